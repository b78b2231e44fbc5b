"""The set-up agent: tries commands in a set-up container, then hands in what has to replay.

Its calls stand at `environment/setup/0…`; what it found is part of that item of the journal.
"""

import time
from dataclasses import dataclass, field, replace

from pipeline.agent.limits import limits_of
from pipeline.agent.loop import AgentRun, run_agent
from pipeline.agent.roles import AgentRole
from pipeline.agent.tool import Observation, Tool, ToolProblem, make_tool
from pipeline.agent.transcript import Transcript
from pipeline.environment.hints import hints
from pipeline.environment.spec import SetupSpec, plan_of, problem_of
from pipeline.environment.trial import Trouble, replay
from pipeline.jsonable import from_json, to_json
from pipeline.prompts.blocks import data_block
from pipeline.prompts.render import render
from pipeline.services import CallAddress, Json, Services
from sandbox.base import Command, EnvironmentPlan, SetupShell
from sandbox.errors import EngineUnavailable, SandboxError

MAX_COMMANDS = 15
MAX_SECONDS = 600.0
MAX_REPLAYS = 3
MAX_TURNS = 24  # commands, replays and a few words between them
MAX_COMMAND_S = 300
OUTPUT_LIMIT = 8000
LOG_SHOWN = 3000


@dataclass(frozen=True, slots=True)
class Found:
    """How the set-up agent ended. `spec` replayed from scratch; None when nothing did.

    `exit_status` is a loop's (submitted, turns, budget, refused, …), "gave_up", "rejected" after
    too many set-ups that did not replay, or "lost" when its container could not be had or went
    away. `rejected` says why each set-up was not accepted, `reason` why it ended otherwise.
    """

    spec: SetupSpec | None
    exit_status: str
    commands: int = 0
    rejected: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TryArguments:
    """Input of `shell`."""

    command: str
    timeout: int = 120


@dataclass(frozen=True, slots=True)
class GiveUpArguments:
    """Input of `give_up`."""

    reason: str


async def find_setup(
    services: Services, plan: EnvironmentPlan, trouble: Trouble, attempt: int = 1
) -> Found:
    """Let an agent find a set-up that replays; costs at most 24 model calls and three replays.

    `plan` is what was detected, `trouble` why it gave no tests. Whatever the agent or the
    container does wrong is in the result; ModelRejected, ModelUnavailable and EngineUnavailable
    are raised.
    """
    bare = _bare(plan, trouble)
    bench = _Bench(services, plan)
    opening = await _opening(services, plan, trouble)
    at = CallAddress("environment", "setup", "", attempt)
    try:
        async with services.sandbox.setup_shell(services.source, bare, services.run) as shell:
            tools = bench.tools(shell)
            role = AgentRole("setup", "setup", lambda workspace, code: tools)
            ended = await run_agent(
                services.model,
                role,
                opening,
                tools,
                at,
                limits_of(services.config, MAX_TURNS),
                services.recorder,
            )
    except EngineUnavailable:
        raise
    except SandboxError as error:
        return Found(None, "lost", bench.commands, tuple(bench.rejected), str(error))
    return _result(ended, bench)


def _result(run: AgentRun, bench: "_Bench") -> Found:
    handed_in: Json = run.output or {}
    spec = handed_in.get("spec")
    return Found(
        None if spec is None else from_json(SetupSpec, spec),
        handed_in.get("ended", run.exit_status),
        bench.commands,
        tuple(bench.rejected),
        handed_in.get("reason", run.reason),
    )


def _bare(plan: EnvironmentPlan, trouble: Trouble) -> EnvironmentPlan:
    """What the agent's container is started as: nothing in it that is known to fail."""
    packages_failed = trouble.is_setup and trouble.line not in plan.setup
    packages = () if packages_failed else plan.packages
    return replace(plan, setup=(), test="", directory="", packages=packages)


async def _opening(services: Services, plan: EnvironmentPlan, trouble: Trouble) -> Transcript:
    lines = "\n".join(plan.setup) or "(none)"
    tried = f"origin: {plan.origin}\nset-up lines:\n{lines}\ntest: {plan.test or '(none)'}"
    tried += f"\npackages: {' '.join(plan.packages) or '(none)'}"
    wrong = f"{trouble.summary}\n{trouble.log[-LOG_SHOWN:]}"
    message = render(
        "setup",
        tried=data_block("tried", tried),
        trouble=data_block("log", wrong),
        hints=await hints(services.source),
    ).message
    return Transcript(message)


@dataclass
class _Bench:
    """What one agent has used so far, and its tools."""

    services: Services
    plan: EnvironmentPlan
    commands: int = 0
    left_s: float = MAX_SECONDS
    rejected: list[str] = field(default_factory=list)

    def tools(self, shell: SetupShell) -> tuple[Tool, ...]:
        """shell, submit_setup, give_up."""

        async def run(arguments: TryArguments) -> str:
            return await self._run(shell, arguments)

        async def give_up(arguments: GiveUpArguments) -> Observation:
            output = {"ended": "gave_up", "reason": arguments.reason[:500]}
            return Observation("Recorded.", output=output)

        return (
            make_tool(
                "shell",
                "Run a command with bash in the repository's root, in the throw-away container: "
                f"registries can be reached, at most {MAX_COMMAND_S} s, long output is cut.",
                TryArguments,
                run,
            ),
            make_tool(
                "submit_setup",
                "Hand in a set-up. It is replayed from scratch; you read why when it is refused.",
                SetupSpec,
                self._submit,
            ),
            make_tool(
                "give_up",
                "End without a set-up: there are no tests, or they cannot run here.",
                GiveUpArguments,
                give_up,
            ),
        )

    async def _run(self, shell: SetupShell, arguments: TryArguments) -> str:
        if self.commands >= MAX_COMMANDS or self.left_s < 1:
            raise ToolProblem(
                "The commands are used up. Hand in what you have with `submit_setup`, or "
                "call `give_up`."
            )
        self.commands += 1
        seconds = min(max(1.0, float(arguments.timeout)), MAX_COMMAND_S, self.left_s)
        start = time.monotonic()
        command = Command(arguments.command, timeout_s=seconds, output_limit=OUTPUT_LIMIT)
        result = await shell.exec(command)
        self.left_s -= time.monotonic() - start
        how = f"exit code {result.exit_code}"
        if result.timed_out:
            how = f"ended after {seconds:.0f} s: the time limit"
        elif result.out_of_memory:
            how = "ended: out of memory"
        left = f"{MAX_COMMANDS - self.commands} commands left"
        return f"({how}; {left})\n{result.output}".rstrip()

    async def _submit(self, spec: SetupSpec) -> Observation:
        if problem := problem_of(spec):
            raise ToolProblem(problem)
        trial = await replay(self.services, plan_of(spec, self.plan))
        if trial.trouble is None:
            return Observation("Accepted.", output={"spec": to_json(spec)})
        self.rejected.append(trial.trouble.summary)
        text = f"Refused: {trial.trouble.summary}\n{trial.trouble.log[-LOG_SHOWN:]}".rstrip()
        if len(self.rejected) >= MAX_REPLAYS:
            return Observation(text, is_error=True, output={"ended": "rejected"})
        left = MAX_REPLAYS - len(self.rejected)
        return Observation(f"{text}\n({left} more may be handed in.)", is_error=True)
