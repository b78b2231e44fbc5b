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
    """A bash script of the harness with its arguments and limits.

    `actor` "sandbox" is the user repository code runs as; "extract" can read the tree and write
    snapshots, and runs nothing of the repository's. Outputs of harness scripts are kept apart
    from their errors. `quick` ones may be answered by what repository code could speak for
    (see `engine.channel`).
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
