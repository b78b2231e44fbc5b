"""Disk and files of a container are bounded by looking, and results say so."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from sandbox.base import Limits
from sandbox.engine.client import Engine, Exec
from sandbox.engine.containers import ROOT, Host, started, workspace_args
from sandbox.engine.images import base_image
from sandbox.engine.runner import ContainerRunner, container_runner
from sandbox.engine.watch import DiskWatch, Watched
from sandbox.errors import WorkspaceLost
from sandbox.runner import Script

pytestmark = pytest.mark.engine

LABELS = {"prism.instance": f"prism-tests-{os.getpid()}", "prism.run": "watch"}
LIMITS = Limits(memory_mb=512, pids=64, disk_mb=40, files=3000)
TREE = "mkdir -p /workspace && chmod 777 /workspace"


@dataclass
class Small:
    """A container with small limits that is looked at often."""

    engine: Engine
    name: str
    runner: ContainerRunner
    watched: Watched

    async def run(self, line: str):
        return await self.runner.run(Script(line, timeout_s=40, merged=True))


@pytest.fixture
async def small() -> AsyncIterator[Small]:
    """One watched container of the bare base image."""
    engine = Engine()
    args = workspace_args(await engine.call(base_image), LIMITS, LABELS, Host())
    watch = DiskWatch(engine, interval_s=0.3, floor_mb=1, floor_files=1)
    async with started(engine, args) as name, watch.watching(name, LIMITS) as watched:
        await engine.exec(name, Exec(["bash", "-c", TREE], ROOT, {}, "/"))
        yield Small(engine, name, await container_runner(engine, name, watched), watched)
    await engine.close()


async def test_what_fills_the_disk_is_ended(small: Small) -> None:
    """Many files, names only, a removed but open file: each ends with a reason, all can be read."""
    slowly = "for i in {1..300}; do head -c 400K /dev/zero > f$i; sleep 0.03; done; sleep 30"
    many = await small.run(slowly)
    assert (many.disk_limit, many.exit_code, many.timed_out) == (True, None, False)
    assert small.watched.exceeded
    read = await small.run("test -s f1 && echo readable")
    assert (read.exit_code, read.text, read.disk_limit) == (0, "readable\n", False)
    assert (await small.run("rm f*; sleep 0.5")).exit_code == 0

    empty = await small.run("for i in {1..3900}; do : > e$i; done; sleep 30")
    assert (empty.disk_limit, empty.exit_code) == (True, None)
    assert (await small.run("rm e*; sleep 0.5")).exit_code == 0

    hidden = "exec 7> big; rm big; for i in {1..90}; do head -c 2M /dev/zero >&7; sleep 0.02; done"
    unnamed = await small.run(f"{hidden}; sleep 30")
    assert (unnamed.disk_limit, unnamed.exit_code) == (True, None)
    fine = await small.run("sleep 0.5; echo fine")
    assert (fine.exit_code, fine.text, fine.disk_limit) == (0, "fine\n", False)


async def test_twice_the_limit_stops_the_container(small: Small) -> None:
    """A burst is reported for the command that made it; after it the workspace is lost, and why."""
    burst = await small.run("echo began; truncate -s 300M big; sleep 30")
    assert (burst.disk_limit, burst.exit_code, burst.text) == (True, None, "began\n")
    assert await small.runner.memory_kills() == 0
    with pytest.raises(WorkspaceLost, match="because it filled the engine's disk"):
        await small.run("true")


async def test_the_floor_ends_the_largest() -> None:
    """When the engine's disk runs low, the one that has written most is ended, nobody else."""
    engine = Engine()
    args = workspace_args(await engine.call(base_image), Limits(memory_mb=512), LABELS, Host())
    watch = DiskWatch(engine, interval_s=0.3, floor_mb=1 << 40, floor_files=1)
    try:
        async with (
            started(engine, args) as large,
            started(engine, args) as little,
            watch.watching(large, Limits()) as first,
            watch.watching(little, Limits()) as second,
        ):
            runner = await container_runner(engine, large, first)
            other = await container_runner(engine, little, second)
            small_work = asyncio.create_task(other.run(Script("sleep 2; echo small")))
            fill = Script("head -c 70M /dev/zero > /var/tmp/big; sleep 30")
            assert (await runner.run(fill)).disk_limit
            done = await small_work
            assert (done.text, done.disk_limit) == ("small\n", False)
    finally:
        await engine.close()
