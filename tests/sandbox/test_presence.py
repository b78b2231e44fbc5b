"""Who counts as being at work: nobody's things are removed while a process may still use them."""

import asyncio
import sys
from pathlib import Path

from sandbox.presence import Presence
from sandbox.process import ProcessSandbox

OTHER = """
import sys
from pathlib import Path
from sandbox.presence import Presence
present = Presence(Path(sys.argv[1]), sys.argv[2])
present.enter()
print("here", flush=True)
sys.stdin.read()
"""


async def other(folder: Path, instance: str) -> asyncio.subprocess.Process:
    """Another process that is present until it is killed."""
    command = (sys.executable, "-c", OTHER, str(folder), instance)
    pipe = asyncio.subprocess.PIPE
    started = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert started.stdout is not None
    assert await started.stdout.readline() == b"here\n"
    return started


def is_alone(presence: Presence) -> bool:
    with presence.alone() as found:
        return found


async def test_a_process_that_cannot_be_seen_is_counted(tmp_path: Path) -> None:
    """By its lock alone, until it ends however; other instances and folders do not matter."""
    mine = Presence(tmp_path, "a")
    elsewhere = [await other(tmp_path, "b"), await other(tmp_path / "c", "a")]
    assert is_alone(mine)
    there = await other(tmp_path, "a")
    assert [is_alone(mine) for _ in range(2)] == [False, False]
    for process in (there, *elsewhere):
        process.kill()
        await process.wait()
    assert is_alone(mine)


async def test_who_asks_is_still_present(tmp_path: Path) -> None:
    """Being refused, or having been alone, takes nobody's own presence away."""
    mine, second = Presence(tmp_path, "a"), Presence(tmp_path, "a")
    assert is_alone(mine)
    assert not is_alone(second)
    assert not is_alone(mine)
    second.leave()
    assert is_alone(mine)
    mine.leave()
    assert is_alone(second)


async def test_folders_of_another_process_stay(tmp_path: Path) -> None:
    """A sweep that believes to be alone removes workspaces only when it is."""
    sandbox = ProcessSandbox(data_dir=tmp_path, allow=True)
    (tmp_path / "process/workspaces/left").mkdir(parents=True)
    there = await other(tmp_path / "process", "process")
    assert await sandbox.remove_orphans(alone=True) == 0
    there.kill()
    await there.wait()
    assert await sandbox.remove_orphans() == 0
    assert await sandbox.remove_orphans(alone=True) == 1
    await sandbox.close()
