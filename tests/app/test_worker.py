"""The worker's sweep: what is left on the engine goes, and an absent engine is no crash."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from app.services import instance_of, open_backend
from app.settings import Settings
from app.worker import _sweep
from sandbox.engine.client import Engine
from sandbox.engine.images import base_image
from sandbox.engine.owner import OWNER, this_process


@pytest.mark.engine
async def test_the_sweep_removes_what_a_dead_process_left(tmp_path: Path) -> None:
    """While the worker works, without a restart."""
    settings = Settings(data_dir=tmp_path, sweep_s=0.05)
    labels = {
        "prism.instance": instance_of(settings),
        OWNER: f"4194305.1.{this_process().rpartition('.')[2]}",
    }
    engine, sandbox = Engine(), open_backend(settings)
    image = await engine.call(base_image)
    await engine.call(
        lambda c: c.containers.create(image, ["true"], network_mode="none", labels=labels)
    )
    sweep = asyncio.create_task(_sweep(sandbox, settings))
    filters = {"label": f"prism.instance={instance_of(settings)}"}
    for _ in range(500):
        if not await engine.call(lambda c: c.api.containers(all=True, filters=filters)):
            break
        await asyncio.sleep(0.02)
    else:
        pytest.fail("the container is still there")
    sweep.cancel()
    await asyncio.gather(sweep, return_exceptions=True)
    await sandbox.close()
    await engine.close()


async def test_the_sweep_outlives_an_engine_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said once, not at every look."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    settings = Settings(data_dir=tmp_path, sweep_s=0.01)
    sandbox = open_backend(settings)
    with capture_logs() as logs:
        sweep = asyncio.create_task(_sweep(sandbox, settings))
        await asyncio.sleep(0.5)
        assert not sweep.done()
        sweep.cancel()
        await asyncio.gather(sweep, return_exceptions=True)
    await sandbox.close()
    assert [each["event"] for each in logs] == ["sandbox lost"]
    assert "Start Docker or set DOCKER_HOST" in logs[0]["error"]
