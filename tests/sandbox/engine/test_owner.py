"""Orphans: what nobody uses goes, what anybody living uses stays."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator

import pytest

from sandbox.base import Command, Environment
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine
from sandbox.engine.owner import OWNER, this_process

pytestmark = pytest.mark.engine

INSTANCE = f"prism-tests-owner-{os.getpid()}"
IDENTITY = (
    "from sandbox.engine.owner import this_process; print(this_process(), flush=True); input()"
)


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """A connection that leaves nothing of this instance behind."""
    engine = Engine()
    yield engine
    sandbox = DockerSandbox(instance=INSTANCE)
    await sandbox.remove_orphans(alone=True)
    assert await names(engine) == set()
    await sandbox.close()
    await engine.close()


async def names(engine: Engine) -> set[str]:
    """Containers of the instance."""
    label = {"label": f"prism.instance={INSTANCE}"}
    found = await engine.call(lambda c: c.api.containers(all=True, filters=label))
    return {each["Names"][0].removeprefix("/") for each in found}


async def make(engine: Engine, image: str, name: str, owner: str) -> None:
    """A container (created, not started) that says it belongs to `owner`."""
    labels = {"prism.instance": INSTANCE, OWNER: owner}
    await engine.call(
        lambda c: c.containers.create(
            image, ["true"], name=name, labels=labels, network_mode="none"
        )
    )


async def test_only_what_nobody_uses_goes(engine: Engine, prepared: Environment) -> None:
    """Of a dead process, of this one but not in use; never of a living one or one unseen."""
    image = prepared.reference
    pid, start, namespace = this_process().split(".")
    other = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        IDENTITY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert other.stdout is not None
    living = (await other.stdout.readline()).decode().strip()
    owners = {
        "living": living,
        "reused": f"{other.pid}.1.{namespace}",  # the same number, another process
        "dead": f"4194305.1.{namespace}",  # beyond the largest process id
        "forgotten": this_process(),  # its removal failed
        "elsewhere": f"{pid}.{start}.1",  # another pid namespace: a neighbour container
        "unmarked": "",  # an older version's
    }
    for kind, owner in owners.items():
        await make(engine, image, f"{INSTANCE}-{kind}", owner)
    sandbox = DockerSandbox(instance=INSTANCE)
    async with sandbox.workspace(prepared, "candidate", "run-mine") as mine:
        assert await sandbox.remove_orphans() == 3
        left = {name.removeprefix(f"{INSTANCE}-") for name in await names(engine)}
        assert {"living", "elsewhere", "unmarked"} < left
        assert len(left) == 4
        assert await sandbox.remove_orphans(alone=True) == 2
        assert (await mine.exec(Command("true"))).ok
        assert f"{INSTANCE}-living" in await names(engine)
    await other.communicate(b"\n")
    assert await sandbox.remove_orphans() == 1

    await sandbox.close()


async def test_a_killed_process_leaves_nothing_for_long(
    engine: Engine, prepared: Environment
) -> None:
    """Its running container and its half-built image are found by whoever sweeps next."""
    script = f"""
import asyncio, os, signal
from sandbox.engine.client import Engine
from sandbox.engine.containers import Host, started, workspace_args
from sandbox.base import Limits

async def main():
    engine = Engine()
    labels = {{"prism.instance": "{INSTANCE}", "prism.role": "setup", "prism.run": "r"}}
    args = workspace_args("{prepared.reference}", Limits(), labels, Host())
    async with started(engine, args) as name:
        image = await engine.call(lambda c: c.api.commit(name)["Id"])
        print(image, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await killed.communicate()
    assert killed.returncode == -9
    assert len(await names(engine)) == 1
    sandbox = DockerSandbox(instance=INSTANCE)
    assert await sandbox.remove_orphans() == 2
    await sandbox.close()
    images = await engine.call(lambda c: [image["Id"] for image in c.api.images(all=True)])
    assert out.decode().strip() not in images
