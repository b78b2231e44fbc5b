"""What an attack is: data that names it, and a probe that really tries it."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal

from sandbox.base import Command, Environment, ExecResult, Limits, Sandbox, Workspace

Verdict = Literal["held", "limit", "not held"]
Group = Literal[
    "privileges", "kernel", "network", "resources", "processes", "secrets", "verdicts", "git",
    "paths",
]  # fmt: skip
GROUPS: tuple[Group, ...] = (
    "privileges", "kernel", "network", "resources", "processes", "secrets", "verdicts", "git",
    "paths",
)  # fmt: skip

# Small, so that reaching a limit takes seconds.
ATTACK_LIMITS = Limits(
    memory_mb=256, pids=96, tmp_mb=32, file_mb=48, disk_mb=64, files=3000, test_timeout_s=60
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe saw: did it hold, and a short measured observation."""

    held: bool
    observed: str


@dataclass(slots=True)
class Scene:
    """Where attacks are tried: a workspace, and the way to fresh ones.

    `limits` are those of `sandbox`; `kept` is for what several attacks of one scene share.
    """

    sandbox: Sandbox
    environment: Environment
    limits: Limits
    run: str
    workspace: Workspace
    kept: dict[str, str] = field(default_factory=dict)

    def fresh(self) -> AbstractAsyncContextManager[Workspace]:
        """Another workspace of the same environment, as verdicts use it."""
        return self.sandbox.workspace(self.environment, "verify", self.run)

    async def shell(
        self, line: str, timeout_s: float = 20.0, env: Mapping[str, str] | None = None
    ) -> ExecResult:
        """Run a command line as repository code would."""
        return await self.workspace.exec(Command(line, timeout_s=timeout_s, env=env or {}))

    async def python(self, program: str, timeout_s: float = 20.0) -> str:
        """Run a Python program and return what it printed, stripped."""
        command = Command(
            "exec /usr/bin/env python3 -", stdin=program.encode(), timeout_s=timeout_s
        )
        return (await self.workspace.exec(command)).output.strip()


Probe = Callable[[Scene], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class Attack:
    """One row of the table. `alone`: it disturbs others, so it gets a workspace of its own.

    `limit` says that it is known to succeed to the degree that `held_by` tells; then `held` of
    its finding is False. `slow` takes more than about three seconds.
    """

    id: str
    group: Group
    title: str
    held_by: str
    probe: Probe = field(repr=False, compare=False)
    alone: bool = False
    limit: bool = False
    slow: bool = False


@dataclass(frozen=True, slots=True)
class AttackResult:
    """How one attack ended."""

    id: str
    group: Group
    title: str
    held_by: str
    verdict: Verdict
    observed: str
    seconds: float


def first_line(text: str, size: int = 90) -> str:
    """The start of an untrusted text, printable and on one line."""
    line = next((row for row in text.splitlines() if row.strip()), "")
    return "".join(c if c.isprintable() else "?" for c in line.strip())[:size]
