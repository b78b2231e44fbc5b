"""What a backend offers to the one workspace implementation: run a script, end everything."""

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Actor = Literal["sandbox", "extract"]
Stdin = bytes | AsyncIterator[bytes]

# A command that writes more than this is ended, whatever its own limit keeps of it.
FLOOD_BYTES = 64 * 1024 * 1024

# What the harness's own scripts run with, whatever a repository puts on PATH, into its home or
# its variables. None takes a variable of the image away.
SHELL = "/bin/bash"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HARNESS: Mapping[str, str | None] = {
    "PATH": SYSTEM_PATH,
    "HOME": "/",
    "LANG": "C.UTF-8",
    **dict.fromkeys(("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "TMPDIR")),
    **dict.fromkeys(("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PERL5LIB", "PERL5OPT")),
    **dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "GIT_DIR", "GIT_EXEC_PATH")),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script did. `stderr` is empty when it was merged into `stdout`.

    `exit_code` is None when it was ended: by its time limit (`timed_out`), because it flooded
    its output (`flooded`) or the disk (`disk_limit`), or, no flag set, together with another
    command that could not be ended alone. `truncated` says that `stdout` lacks its middle.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_s: float
    timed_out: bool = False
    flooded: bool = False
    truncated: bool = False
    disk_limit: bool = False

    @property
    def text(self) -> str:
        """`stdout` as text; undecodable bytes are replaced."""
        return self.stdout.decode(errors="replace")

    @property
    def reason(self) -> str:
        """Why it failed, for people; never empty."""
        if self.disk_limit:
            return "it wrote more to the disk than it may"
        if self.timed_out:
            return "it did not end in time"
        if self.flooded:
            return "it printed without end"
        said = (self.stderr or self.stdout).decode(errors="replace").strip()[-500:]
        if said:
            return said
        return "it was ended" if self.exit_code is None else f"exit code {self.exit_code}"


@dataclass(frozen=True, slots=True)
class Layout:
    """Absolute paths of a workspace as its commands see them.

    `base_git` is the recorded base and `work_git` holds snapshots: repository code can read both
    and write neither. `scratch` is for reports and temporary indexes.
    """

    tree: str
    base_git: str
    work_git: str
    scratch: str


@dataclass(frozen=True, slots=True)
class Script:
    """A bash script with its arguments and limits.

    It is the harness's own, and then finds only the system's programs and no variable that a
    repository chose, unless `project` says that it is a line of the repository or about it: such
    a line has the virtual environment on PATH, the home folder and `env`. `actor` "sandbox" is
    the user repository code runs as; "extract" can read the tree and write snapshots, and runs
    nothing of the repository's. Outputs of harness scripts are kept apart from their errors.
    `quick` ones may be answered by what repository code could speak for (see `engine.channel`).
    """

    text: str
    args: Sequence[str] = ()
    actor: Actor = "sandbox"
    stdin: Stdin = b""
    timeout_s: float = 60.0
    output_limit: int = 1_000_000
    env: Mapping[str, str] | None = None
    merged: bool = False
    quick: bool = False
    project: bool = False

    def __post_init__(self) -> None:
        if self.env is not None and not self.project:
            raise ValueError("A script of the harness takes no variables.")
        if self.project and self.actor != "sandbox":
            raise ValueError("Lines of a repository run as the sandbox user.")


class Runner(Protocol):
    """One running workspace of a backend."""

    @property
    def layout(self) -> Layout:
        """Where things are."""

    async def run(self, script: Script) -> Outcome:
        """Run a script; when it is cut or cancelled everything it started is ended first."""

    async def end_processes(self) -> None:
        """End every process that repository code left behind."""

    async def memory_kills(self) -> int:
        """How often the kernel ended a process of this workspace for its memory, so far."""


async def chunks(stdin: Stdin) -> AsyncIterator[bytes]:
    """Standard input in pieces."""
    if isinstance(stdin, bytes):
        for start in range(0, len(stdin), 65536):
            yield stdin[start : start + 65536]
    else:
        async for chunk in stdin:
            yield chunk


_slots: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]" = (
    weakref.WeakKeyDictionary()
)


def test_slots() -> asyncio.Semaphore:
    """The process-wide limit on test commands: as many at once as there are cores.

    More would only make time limits fire because of the neighbours. One semaphore per event
    loop, because asyncio's belong to one.
    """
    loop = asyncio.get_running_loop()
    if loop not in _slots:
        _slots[loop] = asyncio.Semaphore(os.cpu_count() or 1)
    return _slots[loop]
