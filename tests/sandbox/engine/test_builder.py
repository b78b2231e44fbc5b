"""The life of an environment on a real engine: tried, built, built upon, shared, refused."""

from pathlib import Path

import pytest

from sandbox.base import Command, EnvironmentPlan, Sandbox
from sandbox.docker import DockerSandbox
from sandbox.process import ProcessSandbox

pytestmark = pytest.mark.engine


async def look_around(sandbox: Sandbox, source) -> None:
    """Try what a set-up line may do, and what it may not."""
    plan = EnvironmentPlan("python", (), "", "exit_code", "t", directory="src")
    async with sandbox.setup_shell(source, plan, "run-shell") as shell:
        where = await shell.exec(Command("basename $PWD; ls; id -u; command -v pip"))
        assert where.ok
        folder, content, user, pip = where.output.split()
        assert (folder, content) == ("src", "shop")
        assert pip.endswith("/venv/bin/pip")
        if sandbox.isolation == "container":
            assert user == "10001"
        assert (await shell.exec(Command("pip install -q -e .."))).exit_code == 0
        assert (await shell.exec(Command("python -c 'import shop'"))).ok
        assert (await shell.exec(Command("echo no; exit 7"))).exit_code == 7
        assert (await shell.exec(Command("sleep 60", timeout_s=0.5))).timed_out


async def test_commands_may_be_tried(docker: DockerSandbox, shop) -> None:
    """A set-up shell is a place like the one set-up lines run in, which outlives failures."""
    await look_around(docker, shop)


async def test_commands_may_be_tried_unisolated(shop, tmp_path: Path) -> None:
    """The backend without isolation offers the same."""
    await look_around(ProcessSandbox(data_dir=tmp_path, allow=True), shop)
    assert not list((tmp_path / "process" / "workspaces").iterdir())
