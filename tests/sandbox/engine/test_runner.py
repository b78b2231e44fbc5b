"""Results tell what really happened, by the harness's own knowledge and not by exit codes."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from sandbox.base import Limits
from sandbox.engine.client import Engine, Exec, ExecRefused
from sandbox.engine.containers import KEEPER, ROOT, SANDBOX, Host, started, workspace_args
from sandbox.engine.images import base_image
from sandbox.engine.runner import ContainerRunner, container_runner
from sandbox.engine.watch import Watched
from sandbox.errors import WorkspaceLost
from sandbox.runner import Script

pytestmark = pytest.mark.engine

LABELS = {"prism.instance": f"prism-tests-{os.getpid()}", "prism.run": "runner"}
TREE = "mkdir -p /workspace && chmod 777 /workspace"


@asynccontextmanager
async def container(engine: Engine, **limits: int) -> AsyncIterator[tuple[str, ContainerRunner]]:
    """A container of the bare base image, by name, and its runner."""
    image = await engine.call(base_image)
    args = workspace_args(image, Limits(memory_mb=256, **limits), LABELS, Host())
    async with started(engine, args) as name:
        await engine.exec(name, Exec(["bash", "-c", TREE], ROOT, {}, "/"))
        yield name, await container_runner(engine, name)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """A connection of this test's own."""
    one = Engine()
    yield one
    await one.close()


def fresh(engine: Engine) -> AbstractAsyncContextManager[tuple[str, ContainerRunner]]:
    return container(engine, pids=64)


async def alive(engine: Engine, name: str) -> int:
    """How many processes of the sandbox user there are, by the keeper's word."""
    count = Exec(["ps", "-u", "10001", "-o", "pid="], KEEPER, {}, "/")
    return len((await engine.exec(name, count)).text.split())


async def test_what_holds_the_output_delays_nothing(engine: Engine) -> None:
    """A command ends when its process ends, though a child of it keeps the stream open."""
    async with fresh(engine) as (name, runner):
        start = time.monotonic()
        quiet = await runner.run(Script("sleep 60 & echo done", merged=True))
        noisy = await runner.run(
            Script("(while sleep 0.01; do echo noise; done) & exit 3", merged=True)
        )
        assert await alive(engine, name) > 1
        # The engine itself would wait 2 s for each, and tell nothing else meanwhile.
        assert time.monotonic() - start < 3.5
        assert (quiet.exit_code, quiet.text) == (0, "done\n")
        assert noisy.exit_code == 3
        # Codes of one's own are one's own, also those that signals use.
        for code in (124, 126, 127, 137, 143):
            assert (await runner.run(Script(f"exit {code}"))).exit_code == code


async def test_nothing_survives_a_time_limit(engine: Engine) -> None:
    """Sessions of their own, ignored signals, stopped and orphaned processes, zombies: none."""
    tree = (
        "setsid sleep 77 & nohup sleep 77 & (trap '' TERM HUP INT; sleep 77) & "
        "sleep 77 & kill -STOP $!; (setsid bash -c 'sleep 77 & sleep 77' &); "
        "for i in {1..20}; do (sleep 0 & exec sleep 77) & done; sleep 77"
    )
    async with fresh(engine) as (name, runner):
        for _ in range(3):
            late = await runner.run(Script(tree, timeout_s=0.4))
            assert (late.timed_out, late.exit_code) == (True, None)
            assert await alive(engine, name) == 0


async def test_steps_of_root_are_bounded_too(engine: Engine) -> None:
    """At their time limit all they started ends; one that filled the disk is said to have."""
    async with fresh(engine) as (name, _):
        watched = Watched(name, Limits())
        runner = await container_runner(engine, name, watched)
        late = await runner.as_root(Script("setsid sleep 77 & sleep 77", timeout_s=0.4))
        assert (late.timed_out, late.exit_code, late.reason) == (
            True,
            None,
            "it did not end in time",
        )
        listed = Exec(["ps", "-u", "0", "-o", "args="], KEEPER, {}, "/")
        assert "sleep" not in (await engine.exec(name, listed)).text
        watched.stopped = True
        await engine.call(lambda c: c.api.kill(name))
        with pytest.raises(WorkspaceLost, match="filled the engine's disk"):
            await runner.as_root(Script("true"))


async def test_container_ended_from_outside(engine: Engine) -> None:
    """Killed or removed while a command runs and before one: the workspace is lost, no result."""

    async def meanwhile(action: str, name: str) -> None:
        await asyncio.sleep(0.3)
        force = {"force": True} if action == "remove_container" else {}
        await engine.call(lambda c: getattr(c.api, action)(name, **force))

    for action in ("kill", "remove_container"):
        async with fresh(engine) as (name, runner):
            task = asyncio.create_task(meanwhile(action, name))
            with pytest.raises(WorkspaceLost, match=r"while a command ran|went away"):
                await runner.run(Script("sleep 30"))
            await task
            with pytest.raises(WorkspaceLost):
                await runner.run(Script("true"))


async def test_restart_when_nothing_can_be_started(engine: Engine) -> None:
    """Where not even a shell starts, the container is restarted; files stay, processes end."""
    async with fresh(engine) as (name, runner):
        await runner.run(Script("echo kept > file"))
        task = asyncio.create_task(runner.run(Script("setsid sleep 77 & sleep 77")))
        await asyncio.sleep(0.4)
        before = await engine.call(lambda c: c.api.inspect_container(name)["State"]["StartedAt"])
        hide = Exec(["bash", "-c", "mv /bin/bash /bin/hidden"], ROOT, {}, "/")
        await engine.exec(name, hide)
        with pytest.raises(ExecRefused):
            await engine.exec(name, Exec(["bash", "-c", "true"], SANDBOX, {}, "/"))
        await runner.end_processes()
        after = await engine.call(lambda c: c.api.inspect_container(name)["State"])
        assert after["Running"]
        assert after["StartedAt"] != before
        ended = await task
        assert (ended.exit_code, ended.timed_out) == (None, False)
        assert await alive(engine, name) == 0
        show = Exec(["cat", "/workspace/file"], KEEPER, {}, "/")
        assert (await engine.exec(name, show)).text == "kept\n"


async def test_full_process_table(engine: Engine) -> None:
    """With every process taken by a bomb left behind, the next commands work and say the truth."""
    bomb = (
        "import os, time\nwhile 1:\n  try:\n    os.fork() or time.sleep(99)\n  except OSError: pass"
    )
    async with fresh(engine) as (name, runner):
        task = asyncio.create_task(runner.run(Script(f"python3 -c '{bomb}'", timeout_s=2.5)))
        await asyncio.sleep(1.5)
        top = await engine.call(lambda c: c.api.top(name))
        assert len(top["Processes"]) > 40
        late = await task
        assert (late.timed_out, late.exit_code) == (True, None)
        assert (await runner.run(Script("seq 3 | wc -l"))).text == "3\n"
        assert await alive(engine, name) == 0


async def test_unread_flood_is_bounded(engine: Engine) -> None:
    """Endless output is read to its limit; a process nobody reads from waits and can be ended."""
    async with fresh(engine) as (name, runner):
        flood = await runner.run(Script("yes | head -c 10G", timeout_s=60, output_limit=1000))
        assert (flood.flooded, flood.exit_code, flood.timed_out) == (True, None, False)
        assert len(flood.stdout) < 1100
        long = await runner.run(Script("seq 200000", output_limit=100, merged=True))
        assert (long.exit_code, long.truncated, long.flooded) == (0, True, False)
        assert long.text.startswith("1\n2\n")
        assert long.text.endswith("199999\n200000\n")
        assert await alive(engine, name) == 0

        # The client goes away: whoever writes then is neither read nor ended by that.
        unread = Exec(["bash", "-c", "yes >&2"], SANDBOX, {}, "/", timeout_s=0.3)
        assert (await engine.exec(name, unread)).timed_out
        assert await alive(engine, name) > 0
        assert (await runner.run(Script("echo fine"))).text == "fine\n"
        await runner.end_processes()
        assert await alive(engine, name) == 0
