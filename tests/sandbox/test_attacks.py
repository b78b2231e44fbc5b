"""What hostile repository code tries, and what becomes of it."""

import asyncio
import time
from pathlib import Path

import pytest

from sandbox.base import Command, Workspace

pytestmark = pytest.mark.engine

COUNT = "ps -u 10001 -o args= | grep -c '[s]leep 54321' || true"


async def test_time_limit_ends_escaped_processes(workspace: Workspace) -> None:
    """New sessions, nohup, ignored signals and stopped processes all end with the command."""
    line = (
        "setsid sleep 54321 & nohup sleep 54321 & (trap '' TERM HUP INT; sleep 54321) & "
        "sleep 54321 & kill -STOP $!; sleep 54321"
    )
    start = time.monotonic()
    result = await workspace.exec(Command(line, timeout_s=1))
    assert time.monotonic() - start < 6
    assert (result.timed_out, result.exit_code) == (True, None)
    assert (await workspace.exec(Command(COUNT))).output.strip() == "0"


async def test_neighbours_survive_a_time_limit(workspace: Workspace) -> None:
    """While another command runs in the same workspace only the late one is ended."""
    slow = asyncio.create_task(workspace.exec(Command("sleep 2; echo done")))
    late = await workspace.exec(Command("setsid sleep 54321 & sleep 54321", timeout_s=0.5))
    assert late.timed_out
    assert (await slow).output == "done\n"
    assert (await workspace.exec(Command(COUNT))).output.strip() == "0"


async def test_fork_bomb(workspace: Workspace) -> None:
    """The process limit holds and the next command works."""
    await workspace.exec(Command("f() { f | f & }; f; sleep 30", timeout_s=2))
    assert (await workspace.exec(Command("echo alive"))).output == "alive\n"


async def test_flood_is_cut(workspace: Workspace) -> None:
    """Endless output is ended early; both ends of a long one are kept."""
    result = await workspace.exec(Command("yes", timeout_s=120, output_limit=1000))
    assert result.truncated
    assert result.exit_code is None
    assert not result.timed_out
    assert len(result.output) < 1200
    long = await workspace.exec(Command("seq 200000", output_limit=100))
    assert long.exit_code == 0
    assert long.output.startswith("1\n2\n")
    assert long.output.endswith("199999\n200000\n")


async def test_memory_bomb_is_reported(workspace: Workspace) -> None:
    """The kernel ends what uses too much, and the result says why."""
    result = await workspace.exec(Command("python3 -c 'x = bytearray(700 << 20)'", timeout_s=60))
    assert result.out_of_memory
    assert not result.ok
    assert not (await workspace.exec(Command("exit 1"))).out_of_memory


async def test_container_survives_its_commands(workspace: Workspace) -> None:
    """`kill -9 -1` ends the caller's processes; the container has another user."""
    await workspace.exec(Command("kill -9 -1; kill -9 1; pkill -9 sleep"))
    assert (await workspace.exec(Command("echo alive"))).output == "alive\n"


async def test_no_network(workspace: Workspace) -> None:
    """There is no way out: only the loopback device, and no route."""
    devices = await workspace.exec(Command("ls /sys/class/net"))
    assert devices.output.split() == ["lo"]
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), 3)"
    result = await workspace.exec(Command(f'python3 -c "{connect}"'))
    assert "unreachable" in result.output


async def test_no_privileges(workspace: Workspace) -> None:
    """No capability, no new privileges, no way to the recorded base or the engine."""
    status = await workspace.exec(Command("cat /proc/self/status"))
    assert "CapEff:\t0000000000000000" in status.output
    assert "CapBnd:\t0000000000000000" in status.output
    assert "NoNewPrivs:\t1" in status.output
    writes = (
        "touch /opt/prism/x /opt/prism/base.git/HEAD; mv /workspace /w; ls /var/run/docker.sock"
    )
    result = await workspace.exec(Command(writes))
    assert result.output.count("denied") >= 3
    assert "No such file" in result.output


async def test_poisoned_git_changes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    """Hooks, filters, monitors and a moved HEAD reach neither this machine nor the patch."""
    canary = tmp_path / "canary"
    await workspace.write("src/shop/extra.py", "EXTRA = 1\n")
    poison = f"""
    cat > /tmp/evil <<'X'
#!/bin/sh
touch {canary} /tmp/ran-as-$(id -u)
X
    chmod +x /tmp/evil; mkdir -p .git/hooks
    for h in pre-commit post-checkout post-index-change reference-transaction; do
      cp /tmp/evil .git/hooks/$h; done
    git config core.fsmonitor /tmp/evil; git config filter.evil.clean /tmp/evil
    git config diff.evil.command /tmp/evil; git config core.worktree /etc
    echo '* filter=evil diff=evil' > .git/info/attributes; echo '*' > .git/info/exclude
    git --work-tree=. commit -q -a -m hide; rm -f /tmp/ran-as-*
    """
    await workspace.exec(Command(poison))
    patch = await workspace.diff()
    assert patch.startswith("diff --git a/src/shop/extra.py b/src/shop/extra.py\nnew file")
    assert patch.count("diff --git") == 1
    assert not canary.exists()
    assert "ran-as" not in (await workspace.exec(Command("ls /tmp"))).output
    await workspace.exec(Command("rm -rf .git"))
    assert await workspace.diff() == patch


async def test_leftovers_cannot_change_the_patch(workspace: Workspace) -> None:
    """A process that waits for the moment of extraction is ended before it."""
    late = "(while sleep 0.01; do echo late >> no-newline.txt; done) >/dev/null 2>&1 &"
    await workspace.exec(Command(f"setsid bash -c '{late}'"))
    first = await workspace.diff()
    assert first == await workspace.diff()


async def test_symlink_out_of_the_tree(workspace: Workspace) -> None:
    """Neither reading nor writing follows a link out of the workspace."""
    await workspace.exec(Command("ln -s /etc/passwd link; ln -s /tmp dir"))
    for path in ("link", "dir/x", "../etc/passwd", "/etc/passwd", "a/../../x"):
        with pytest.raises(PermissionError, match="leads out of the workspace"):
            await workspace.read(path)
        with pytest.raises(PermissionError, match="leads out of the workspace"):
            await workspace.write(path, "x")
