"""Processes of the backend without isolation: limits, leftovers, no trace of one tree."""

import asyncio
import os
import time
from pathlib import Path
from shlex import quote

import pytest

from sandbox.base import Environment, EnvironmentPlan
from sandbox.errors import SetupFailed, WorkspaceLost
from sandbox.process import ProcessSandbox, detach_editable
from sandbox.process_runner import ProcessRunner
from sandbox.runner import Layout, Script


@pytest.fixture
def runner(tmp_path: Path) -> ProcessRunner:
    """A runner in an empty folder."""
    folder = str(tmp_path)
    return ProcessRunner(Layout(folder, folder, folder, folder), {"PATH": os.defpath})


def alive(pid_file: Path) -> bool:
    """Whether the process that wrote its id there still runs (nobody may have reaped it)."""
    try:
        stat = Path(f"/proc/{pid_file.read_text().strip()}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def test_time_limit_ends_the_session(runner: ProcessRunner, tmp_path: Path) -> None:
    """A child that left its group and ignores signals ends too."""
    line = "setsid bash -c \"trap '' TERM HUP; echo \\$\\$ > pid; sleep 600\" & sleep 600"
    start = time.monotonic()
    outcome = await runner.run(Script(line, timeout_s=1))
    assert (outcome.timed_out, outcome.exit_code) == (True, None)
    assert time.monotonic() - start < 10
    assert not alive(tmp_path / "pid")


async def test_background_child_does_not_hold_the_result(runner: ProcessRunner) -> None:
    """A command is over when it ends, whoever still has its output; leftovers end on request."""
    outcome = await runner.run(Script("sleep 600 & echo $! > pid; echo out", merged=True))
    assert outcome.stdout == b"out\n"
    assert outcome.duration_s < 5
    pid_file = Path(runner.layout.tree) / "pid"
    assert alive(pid_file)
    await runner.end_processes()
    assert not alive(pid_file)


async def test_cancelling_ends_the_command(runner: ProcessRunner, tmp_path: Path) -> None:
    """Nothing goes on after its owner has gone."""
    task = asyncio.create_task(runner.run(Script("echo $$ > pid; sleep 600", timeout_s=600)))
    await asyncio.sleep(1)
    assert alive(tmp_path / "pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(tmp_path / "pid")


async def test_flood_is_ended(runner: ProcessRunner) -> None:
    """Endless output ends the command, with little of it in memory."""
    outcome = await runner.run(Script("yes", output_limit=100, timeout_s=120))
    assert outcome.flooded
    assert outcome.exit_code is None
    assert len(outcome.stdout) < 200


async def test_streams_and_codes(runner: ProcessRunner) -> None:
    """Harness scripts have their two streams apart; signals are reported as by a shell."""
    outcome = await runner.run(Script("cat; echo err >&2; kill -9 $$", stdin=b"in"))
    assert (outcome.stdout, outcome.stderr, outcome.exit_code) == (b"in", b"err\n", 137)


async def test_process_that_does_not_read(runner: ProcessRunner) -> None:
    """Input nobody wants is no error."""
    assert (await runner.run(Script("true", stdin=b"x" * 1_000_000))).exit_code == 0


async def test_tree_that_was_removed(runner: ProcessRunner) -> None:
    """Without its folder a workspace is lost, which callers can tell from their own mistakes."""
    await runner.run(Script(f"rm -rf {quote(runner.layout.tree)}"))
    with pytest.raises(WorkspaceLost, match="cannot run commands"):
        await runner.run(Script("true"))


async def test_failed_setup_keeps_nothing(shop, tmp_path: Path) -> None:
    """The error has the line and its output, and the next attempt starts afresh."""
    sandbox = ProcessSandbox(data_dir=tmp_path, allow=True)
    plan = EnvironmentPlan("unknown", ("echo broken; exit 7",), "", "exit_code", "t")
    with pytest.raises(SetupFailed) as caught:
        await sandbox.prepare(shop, plan, "run")
    assert caught.value.log.endswith("broken\n")
    assert list((tmp_path / "process/environments").iterdir()) == []


async def test_reuse_and_cleaning(shop, tmp_path: Path) -> None:
    """An environment is built once; workspaces leave no folder behind."""
    sandbox = ProcessSandbox(data_dir=tmp_path, allow=True)
    plan = EnvironmentPlan("unknown", ("echo x >> made",), "test -f made", "exit_code", "t")
    first = await sandbox.prepare(shop, plan, "run")
    again = await sandbox.prepare(shop, plan, "run")
    assert (first.cached, again.cached) == (False, True)
    assert first.stable_passes == again.stable_passes == {"suite"}
    async with sandbox.workspace(first, "candidate", "run") as workspace:
        assert await workspace.read("made") == "x\n"
        assert await workspace.diff() == ""
    assert list((tmp_path / "process/workspaces").iterdir()) == []
    gone = Environment(str(tmp_path / "gone"), plan, None, None, 0.0, "")
    with pytest.raises(WorkspaceLost, match="prepare it again"):
        async with sandbox.workspace(gone, "candidate", "run"):
            pass


def test_detach_editable(tmp_path: Path) -> None:
    """Hooks of every kind of editable install go; others stay; the module path is relative."""
    tree, site = tmp_path / "tree", tmp_path / "venv/lib/python3.11/site-packages"
    (tree / "src").mkdir(parents=True)
    (tree / "lib/pack").mkdir(parents=True)
    (tree / "lib/pack/__init__.py").touch()
    (tree / "tools").mkdir()
    (tree / "tools/single.py").touch()
    site.mkdir(parents=True)
    (site / "__editable__.a-1.pth").write_text(f"{tree}/src\n")
    (site / "__editable___b_finder.py").write_text(
        f"MAPPING = {{'pack': '{tree}/lib/pack', 'single': '{tree}/tools/single.py'}}\n"
    )
    (site / "__editable__.b-1.pth").write_text("import __editable___b_finder\n")
    (site / "other.pth").write_text("/usr/lib/elsewhere\n")
    (site / "a-1.dist-info").mkdir()
    assert detach_editable(tmp_path / "venv", tree) == ["src", "lib", "tools", "."]
    assert sorted(path.name for path in site.iterdir()) == ["a-1.dist-info", "other.pth"]
