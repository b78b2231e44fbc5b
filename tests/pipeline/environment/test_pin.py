"""What can be copied into `.github/prism.yml` reads back as the same plan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.environment.pin import pinned, scalar
from sandbox.base import EnvironmentPlan
from sandbox.environment.config import parse_config
from sandbox.environment.plan import make_plan
from tests.fakes import MemorySource

PLAN = EnvironmentPlan(
    language="python",
    setup=("pip install -e '.[test]'", "cp a.cfg b.cfg  # needed: by the tests"),
    test="python -m pytest -q -k 'not slow: yes'",
    runner="pytest",
    origin="set-up agent",
    directory="packages/core",
    packages=("libpq-dev", "less"),
    variables=(("MODE", "on"), ("N", "012"), ("EMPTY", ""), ("TEXT", "a: b #c")),
    hosts=("files.example.org",),
    image="python@sha256:" + "0" * 64,
)
LINES = st.text(
    st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), min_size=1
).filter(lambda line: line.strip() == line)


def test_every_part_comes_back() -> None:
    """Lines, command, folder, packages, variables, hosts and image, character by character."""
    config = parse_config(pinned(PLAN).encode())
    assert (config.setup, config.test) == (PLAN.setup, PLAN.test)
    assert (config.directory, config.apt, config.hosts) == (
        PLAN.directory,
        PLAN.packages,
        PLAN.hosts,
    )
    assert (config.vars, config.image) == (PLAN.variables, PLAN.image)


async def test_the_pinned_plan_is_the_plan() -> None:
    """A repository with the text in it is set up and tested in just that way."""
    files = {".github/prism.yml": pinned(PLAN), "packages/core/setup.py": "", "setup.py": ""}
    plan = await make_plan(MemorySource(files))
    assert (plan.setup, plan.test, plan.runner) == (PLAN.setup, PLAN.test, PLAN.runner)
    assert (plan.directory, plan.packages, plan.hosts) == (
        PLAN.directory,
        PLAN.packages,
        PLAN.hosts,
    )
    assert dict(plan.variables).items() >= dict(PLAN.variables).items()
    assert plan.image == PLAN.image


async def test_nothing_to_install_is_pinned_as_nothing() -> None:
    """No line of detection comes back for a plan that had none."""
    plan = EnvironmentPlan("python", (), "sh check.sh", "exit_code", "set-up agent")
    files = {".github/prism.yml": pinned(plan), "pyproject.toml": "[project]\nname='x'\n"}
    assert (await make_plan(MemorySource(files))).setup == ()


@given(st.lists(LINES, min_size=1, max_size=4), LINES)
def test_any_text_survives(setup: list[str], test: str) -> None:
    """Quotes, colons, other alphabets, line ends and control characters."""
    plan = EnvironmentPlan("unknown", tuple(setup), test, "exit_code", "x")
    config = parse_config(pinned(plan).encode())
    assert (config.setup, config.test) == (tuple(setup), test)


@pytest.mark.parametrize("text", ["make test", "./run-checks.sh", "go test ./...", "npm ci"])
def test_plain_lines_stay_readable(text: str) -> None:
    """What needs no quotes has none."""
    assert scalar(text) == text
