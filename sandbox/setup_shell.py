"""A place to try set-up commands in: tree placed, network as during a set-up, nothing kept."""

from collections.abc import Mapping
from shlex import quote

from sandbox.base import Command, EnvironmentPlan, ExecResult, Source
from sandbox.runner import Script
from sandbox.setup import REFUSALS_SHOWN, Setup


class TrialShell:
    """Implements `sandbox.base.SetupShell` in the place of a set-up that was begun.

    Commands run as the sandbox user with the variables and in the folder of set-up lines. What
    the proxy refused meanwhile is said below a command's output.
    """

    def __init__(self, setup: Setup, plan: EnvironmentPlan, env: Mapping[str, str]) -> None:
        self._setup = setup
        self._plan = plan
        self._env = env
        self._memory_kills = 0
        self._refusals = 0

    async def exec(self, command: Command) -> ExecResult:
        """Run one command; a failing command is a result, not an error."""
        runner = self._setup.place.runner
        folder = self._plan.directory
        where = f"cd -- {quote(f'{runner.layout.tree}/{folder}')} || exit\n" if folder else ""
        outcome = await runner.run(
            Script(
                text=where + command.line,
                stdin=command.stdin,
                timeout_s=command.timeout_s,
                output_limit=command.output_limit,
                env={**self._env, **command.env},
                merged=True,
                project=True,
            )
        )
        killed = outcome.exit_code != 0 and await self._ran_out_of_memory()
        return ExecResult(
            exit_code=None if killed and outcome.exit_code == 137 else outcome.exit_code,
            output=outcome.text + self._new_refusals(),
            duration_s=outcome.duration_s,
            timed_out=outcome.timed_out,
            out_of_memory=killed,
            truncated=outcome.truncated or outcome.flooded,
            disk_limit=outcome.disk_limit,
        )

    def _new_refusals(self) -> str:
        refusals = self._setup.egress.refusals()
        new, self._refusals = refusals[self._refusals :], len(refusals)
        return "".join(f"refused: {sentence}\n" for sentence in new[:REFUSALS_SHOWN])

    async def _ran_out_of_memory(self) -> bool:
        runner = self._setup.place.runner
        before, self._memory_kills = self._memory_kills, await runner.memory_kills()
        return self._memory_kills > before


async def open_shell(setup: Setup, source: Source, plan: EnvironmentPlan) -> TrialShell:
    """Begin a set-up and stop before the plan's first line.

    The virtual environment is made whatever the plan says, because what will be tried is not
    known yet; an image without Python does without.
    """
    env = await setup.begin(source, plan)
    await setup.install_packages(plan, setup.limits.setup_timeout_s)
    shell = TrialShell(setup, plan, env)
    await shell.exec(Command(f"{quote(setup.place.python)} -m venv {quote(setup.place.venv)}"))
    return shell
