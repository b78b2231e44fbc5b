"""When a set-up makes a virtual environment."""

import os
from pathlib import Path

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.errors import SandboxError
from sandbox.process import ProcessSandbox
from sandbox.setup import needs_python


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("pip install pytest", True),
        ("pip3 install .", True),
        ("python -m pip install -e .", True),
        ("cd sub && python3.11 -m unittest", True),
        ("/usr/bin/env python script.py", True),
        ("py.test -q", True),
        ("pytest", True),
        ("npm ci", False),
        ("make pipeline", False),
        ("./pytest-like.sh", False),
        ("echo pipe | cat", False),
        ("", False),
    ],
)
def test_lines_that_need_python(line: str, wanted: bool) -> None:
    """A tool of Python in either kind of line calls for one, whatever was detected."""
    as_setup = EnvironmentPlan("unknown", (line,), "", "exit_code", "t")
    as_test = EnvironmentPlan("node", ("true",), line, "exit_code", "t")
    assert (needs_python(as_setup), needs_python(as_test)) == (wanted, wanted)
    assert needs_python(EnvironmentPlan("python", (line,), "", "exit_code", "t"))


async def test_configured_python_has_its_environment(shop, tmp_path: Path) -> None:
    """Where nothing was detected, python and pip of a set-up line are the environment's own."""
    sandbox = ProcessSandbox(data_dir=tmp_path, allow=True)
    own = 'test "$(command -v pip)" = "$VIRTUAL_ENV/bin/pip"'
    lines = (own, "python -c 'import sys; assert sys.prefix != sys.base_prefix'")
    plan = EnvironmentPlan("unknown", lines, "python -m pip --version", "exit_code", "t")
    environment = await sandbox.prepare(shop, plan, "run")
    assert environment.stable_passes == {"suite"}


async def test_stored_passwords_are_found(shop, tmp_path: Path) -> None:
    """Where lines see the index's password, an environment that kept it is thrown away."""
    environ = {"PATH": os.environ["PATH"], "PIP_INDEX_URL": "https://me:s3cr3t-word@index.invalid/"}
    sandbox = ProcessSandbox(data_dir=tmp_path, allow=True, environ=environ)
    line = 'echo "$PIP_INDEX_URL" > kept'
    with pytest.raises(SandboxError, match="tree/kept"):
        await sandbox.prepare(
            shop, EnvironmentPlan("unknown", (line,), "", "exit_code", "t"), "run"
        )


async def test_packages_need_a_container(shop, tmp_path: Path) -> None:
    """Nothing is installed on this machine."""
    plan = EnvironmentPlan("unknown", (), "", "exit_code", "t", packages=("less",))
    with pytest.raises(SandboxError, match="docker sandbox"):
        await ProcessSandbox(data_dir=tmp_path, allow=True).prepare(shop, plan, "run")


async def test_lines_have_the_plan_s_folder_and_variables(shop, tmp_path: Path) -> None:
    """The same for every line."""
    lines = ('test "$MADE" = "by the plan"', 'test "$(basename "$PWD")" = shop')
    plan = EnvironmentPlan(
        "unknown",
        lines,
        "",
        "exit_code",
        "t",
        directory="src/shop",
        variables=(("MADE", "by the plan"),),
    )
    environment = await ProcessSandbox(data_dir=tmp_path, allow=True).prepare(shop, plan, "run")
    assert environment.log.count("$ test") == 2
