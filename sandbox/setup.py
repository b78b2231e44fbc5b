"""Prepare a repository in a container with network: the only phase that has one."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.base import EnvironmentPlan, Limits, Source
from sandbox.container_runner import HOME, LAYOUT, PRIVATE, VENV, ContainerRunner
from sandbox.environment.passthrough import bundle_environment, secrets_in
from sandbox.errors import SandboxError, SetupFailed
from sandbox.output import CappedOutput
from sandbox.runner import Outcome, Script
from sandbox.scripts import (
    COPY_EXCLUDES,
    RECORD_BASE,
    SETTLE,
    WRITE_EXCLUDES,
    exclude_patterns,
    script,
)

LOG_LIMIT = 20_000
LIST_LIMIT = 32_000_000
_BUNDLE = f"{PRIVATE}/ca.pem"

_FOLDERS = f"""
set -e
mkdir -p {LAYOUT.tree} {PRIVATE}/work {VENV} {HOME}
find {LAYOUT.tree} -xdev -mindepth 1 -delete
chown 0:0 {PRIVATE}
chown 10001:10001 {LAYOUT.tree} {PRIVATE}/work {VENV} {HOME}
chmod 755 {LAYOUT.tree} {PRIVATE} {PRIVATE}/work {VENV} {HOME}
"""
_UNPACK = f"exec tar -x --no-same-owner -C {LAYOUT.tree} -f -"
# Credentials and caches of package managers; credentials written there would stay in the image.
_SCRUB = """
cd "$HOME" && rm -rf .config/pip .pip .pypirc .npmrc .yarnrc .netrc .git-credentials .docker \\
  .config/git .gitconfig .m2/settings.xml .cargo/credentials .cargo/credentials.toml \\
  .cache/pip .cache/uv .npm/_cacache .npm/_logs .cache/yarn
"""
_FIND_SECRETS = f"grep -rlaF -f /dev/stdin {HOME} {VENV} {LAYOUT.tree} 2>/dev/null | head -3"


@dataclass
class Setup:
    """One set-up: tree in, base recorded, lines run, everything made ready to be copied.

    `installers` are the variables package managers get; `bundle` this machine's certificate
    authorities, which leave the container again before it becomes an image.
    """

    runner: ContainerRunner
    limits: Limits
    installers: Mapping[str, str]
    bundle: bytes
    log: CappedOutput = field(default_factory=lambda: CappedOutput(LOG_LIMIT))

    async def carry_out(self, source: Source, plan: EnvironmentPlan) -> None:
        """All steps in order; raises SetupFailed with the log when a line fails."""
        await self._root("making folders", Script(_FOLDERS))
        await self._place_tree(source)
        env = {**self.installers, "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        if self.bundle:
            await self._root("certificates", Script(f"cat > {_BUNDLE}", stdin=self.bundle))
            env |= bundle_environment(_BUNDLE)
        env["PYTHONDONTWRITEBYTECODE"] = ""
        if plan.language == "python":
            env["VIRTUAL_ENV"] = VENV
        deadline = time.monotonic() + self.limits.setup_timeout_s
        for line in self._lines(plan):
            await self._line(line, env, deadline - time.monotonic())
        await self.runner.end_processes()
        await self._settle()
        await self._scrub()

    def _lines(self, plan: EnvironmentPlan) -> tuple[str, ...]:
        venv = (f"python3 -m venv {VENV}",) if plan.language == "python" else ()
        return venv + plan.setup

    async def _place_tree(self, source: Source) -> None:
        """Stream the tree in and record it; every file of the commit must have arrived."""
        unpacked = await self.runner.run(
            Script(_UNPACK, stdin=source.archive(), timeout_s=self.limits.setup_timeout_s)
        )
        _check("unpacking the repository", unpacked)
        recorded = await self._root(
            "recording the base",
            Script(script(RECORD_BASE, LAYOUT), timeout_s=300, output_limit=LIST_LIMIT),
        )
        here = set(recorded.text.split("\0"))
        missing = [path for path in await source.files() if path not in here]
        if missing:
            raise SandboxError(
                f"{len(missing)} files of the commit did not arrive, first {missing[0]!r}."
            )

    async def _line(self, line: str, env: Mapping[str, str], left_s: float) -> None:
        self.log.feed(f"$ {line}\n".encode())
        outcome = await self.runner.run(
            Script(line, env=env, timeout_s=max(1.0, left_s), output_limit=LOG_LIMIT, merged=True)
        )
        self.log.feed(outcome.stdout)
        if outcome.exit_code != 0:
            raise SetupFailed(line, outcome.exit_code, self.log_text)

    async def _settle(self) -> None:
        settled = await self.runner.run(
            Script(script(SETTLE, LAYOUT), timeout_s=300, output_limit=LIST_LIMIT)
        )
        _check("recording what the set-up made", settled)
        if settled.truncated:
            raise SandboxError("The set-up left too many files beside the repository's own.")
        untracked = tuple(path for path in settled.text.split("\0") if path)
        excludes = exclude_patterns(untracked).encode()
        await self._root("excludes", Script(script(WRITE_EXCLUDES, LAYOUT), stdin=excludes))
        _check("excludes", await self.runner.run(Script(script(COPY_EXCLUDES, LAYOUT))))

    async def _scrub(self) -> None:
        """Take out what must not be in an image; refuse it when a password was kept."""
        _check("clearing credentials", await self.runner.run(Script(_SCRUB)))
        secrets = secrets_in(self.installers)
        if secrets:
            found = await self.runner.run(
                Script(_FIND_SECRETS, stdin="\n".join(secrets).encode(), timeout_s=300)
            )
            if found.stdout:
                raise SandboxError(
                    "A set-up line stored a password of the package index in "
                    f"{found.text.split()[0]}; the environment was thrown away."
                )
        await self._root(
            "cleaning", Script(f"rm -f {_BUNDLE}; find /tmp -xdev -mindepth 1 -delete")
        )

    async def _root(self, what: str, task: Script) -> Outcome:
        outcome = await self.runner.as_root(task)
        _check(what, outcome)
        return outcome

    @property
    def log_text(self) -> str:
        """The log's two ends as text."""
        return self.log.value().decode(errors="replace")


def _check(what: str, outcome: Outcome) -> None:
    if outcome.exit_code != 0:
        detail = (outcome.stderr or outcome.stdout).decode(errors="replace").strip()[-500:]
        raise SandboxError(f"Preparing the sandbox failed while {what}: {detail}")
