"""Environments and workspaces on a real engine."""

import asyncio
from pathlib import Path

import pytest

from sandbox.base import Command, Environment, EnvironmentPlan
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine
from sandbox.engine.images import base_image
from sandbox.errors import EngineUnavailable, SetupFailed, WorkspaceLost

pytestmark = pytest.mark.engine

PASS, FAIL = "tests/test_total.py::test_total", "tests/test_total.py::TestWords::test_join"


async def containers(run: str) -> list[str]:
    """Names of the containers that carry a run's label."""
    engine = Engine()
    try:
        found = await engine.call(
            lambda c: c.api.containers(all=True, filters={"label": f"prism.run={run}"})
        )
        return [container["Names"][0] for container in found]
    finally:
        await engine.close()


async def test_base_runs_are_recorded(prepared: Environment) -> None:
    """The suite ran twice before any patch; what failed then cannot be lost later."""
    assert prepared.baseline is not None
    assert dict(prepared.baseline.results) == {PASS: "pass", FAIL: "fail"}
    assert prepared.baseline.structured
    assert prepared.stable_passes == {PASS}
    assert "Successfully installed" in prepared.log


async def test_environment_is_reused(
    docker: DockerSandbox, prepared: Environment, shop, shop_plan: EnvironmentPlan
) -> None:
    """The same commit and plan need neither set-up nor base runs again."""
    again = await docker.prepare(shop, shop_plan, "run-2")
    assert again.cached
    assert again.reference == prepared.reference
    assert again.baseline == prepared.baseline
    assert again.plan == shop_plan


async def test_failed_setup_keeps_nothing(docker: DockerSandbox, shop) -> None:
    """The error has the line, its exit code and its output; the container is gone."""
    plan = EnvironmentPlan("unknown", ("echo before", "echo broken; exit 7"), "", "exit_code", "t")
    with pytest.raises(SetupFailed) as caught:
        await docker.prepare(shop, plan, "run-failed")
    assert (caught.value.line, caught.value.exit_code) == ("echo broken; exit 7", 7)
    assert caught.value.log.endswith("$ echo broken; exit 7\nbroken\n")
    assert await containers("run-failed") == []


async def test_python_that_was_not_detected(docker: DockerSandbox, shop) -> None:
    """A configured line finds `python` and `pip`, which the image itself does not offer."""
    lines = ("python -m pip --version", "pip --version")
    plan = EnvironmentPlan("unknown", lines, "python -c pass", "exit_code", "t")
    environment = await docker.prepare(shop, plan, "run-python")
    assert environment.stable_passes == {"suite"}


async def test_workspaces_are_apart(docker: DockerSandbox, prepared: Environment) -> None:
    """What one workspace does to its tools shows in no other: verdicts come from fresh ones."""
    site = "import site; print(site.getsitepackages()[0])"
    tamper = f'echo \'import os; os._exit(0)\' > "$(python -c "{site}")/evil.pth"'
    async with docker.workspace(prepared, "candidate", "run-1") as bad:
        assert (await bad.exec(Command(tamper))).ok
        assert (await bad.exec(Command("python -c 'raise SystemExit(3)'"))).exit_code == 0
        async with docker.workspace(prepared, "verify", "run-1") as fresh:
            assert (await fresh.exec(Command("python -c 'raise SystemExit(3)'"))).exit_code == 3
            assert dict((await fresh.test()).results) == {PASS: "pass", FAIL: "fail"}


async def test_leaving_removes_the_container(docker: DockerSandbox, prepared: Environment) -> None:
    """Also when the work was cancelled in the middle of a command."""
    inside = asyncio.Event()

    async def work() -> None:
        async with docker.workspace(prepared, "candidate", "run-cancel") as workspace:
            inside.set()
            await workspace.exec(Command("sleep 600", timeout_s=600))

    task = asyncio.create_task(work())
    await inside.wait()
    await asyncio.sleep(0.3)
    assert len(await containers("run-cancel")) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await containers("run-cancel") == []


async def test_cancelled_while_starting(docker: DockerSandbox, prepared: Environment) -> None:
    """A container that is just being created does not outlive the cancelled work."""

    async def work() -> None:
        async with docker.workspace(prepared, "candidate", "run-early"):
            await asyncio.sleep(600)

    for delay in (0.0, 0.01, 0.05):
        task = asyncio.create_task(work())
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await containers("run-early") == []


async def test_lost_environment(docker: DockerSandbox, prepared: Environment) -> None:
    """An environment whose image was removed says so."""
    gone = Environment("sha256:" + "0" * 64, prepared.plan, None, None, 0.0, "")
    with pytest.raises(WorkspaceLost, match="prepare it again"):
        async with docker.workspace(gone, "candidate", "run-1"):
            pass


async def test_engine_is_described(docker: DockerSandbox) -> None:
    """A worker can say at its start what it found."""
    assert (await docker.check_engine()).startswith("Docker Engine ")


async def test_missing_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without an engine there is one plain sentence that says what to do."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    sandbox = DockerSandbox(instance="prism-tests")
    with pytest.raises(EngineUnavailable, match=r"Start Docker or set DOCKER_HOST"):
        await sandbox.check_engine()
    await sandbox.close()


async def test_missing_image() -> None:
    """An image the engine can neither find nor pull is named."""
    engine = Engine()
    try:
        with pytest.raises(EngineUnavailable, match=r"localhost:1/none .*PRISM_SANDBOX_IMAGE"):
            await engine.call(lambda c: base_image(c, "localhost:1/none"))
    finally:
        await engine.close()
