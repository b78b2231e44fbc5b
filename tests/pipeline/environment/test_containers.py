"""The set-up agent at work in real containers: what it found counts only after a replay."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.github.source import MirrorSource
from emulator.model.scripted import call, say
from sandbox.base import Limits
from sandbox.docker import DockerSandbox
from tests.pipeline.environment.conftest import Office

pytestmark = pytest.mark.engine


@pytest.fixture
async def docker(shared: MirrorSource) -> AsyncIterator[DockerSandbox]:
    """Containers of this test alone."""
    limits = Limits(memory_mb=512, pids=128)
    sandbox = DockerSandbox(instance=f"prism-tests-agent-{os.getpid()}", limits=limits)
    yield sandbox
    await sandbox.remove_orphans()
    await sandbox.remove_environments(shared.repository)
    await sandbox.close()


async def test_a_setup_is_found_by_trying(
    docker: DockerSandbox, shared: MirrorSource, tmp_path: Path
) -> None:
    """What its own container remembers is no set-up; refused with the reason, then accepted."""
    desk = Office(tmp_path, shared, docker)
    turns = [
        [say("I look around."), call("shell", command="ls; cat run-checks.sh; id -u")],
        [say("It wants a file."), call("shell", command="touch installed && sh run-checks.sh")],
        [call("submit_setup", setup=["test -f installed"], test="sh run-checks.sh")],
        [call("submit_setup", setup=["touch installed"], test="sh run-checks.sh")],
    ]
    prepared = await desk.prepare({f"environment/setup/{n}": turn for n, turn in enumerate(turns)})
    assert desk.calls == [f"environment/setup/{n}" for n in range(4)]
    assert prepared.environment.stable_passes == {"suite"}
    assert prepared.environment.plan.setup == ("touch installed",)

    again = await desk.prepare({})
    assert desk.calls == []
    assert again.environment.cached
    assert again.pin == prepared.pin
