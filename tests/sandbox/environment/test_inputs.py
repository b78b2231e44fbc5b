"""What decides whether two commits can share what a set-up installed."""

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.inputs import inputs, without_repeats
from sandbox.environment.record import dependencies_key
from tests.fakes import MemorySource

PLAN = EnvironmentPlan("python", ("pip install -e .", "./tools/setup.sh"), "pytest", "pytest", "t")


@pytest.mark.parametrize(
    "path",
    [
        "pyproject.toml",
        "sub/dir/package-lock.json",
        "requirements.txt",
        "requirements-dev.in",
        "dev-requirements.txt",
        "requirements/test.txt",
        "app/.python-version",
        "Cargo.lock",
        ".cargo/config.toml",
        "go.sum",
        "build.gradle.kts",
        "gradle/libs.versions.toml",
        "shop.gemspec",
        "Makefile",
        "tools/setup.sh",
    ],
)
def test_what_counts(path: str) -> None:
    """Manifests, lock files, tool versions and scripts that a line names decide."""
    assert inputs(PLAN, {path: "1", "src/shop.py": "2"}) == ((path, "1"),)


@pytest.mark.parametrize(
    "path",
    ["src/shop.py", "README.md", "tests/requirements.py", "docs/package.json.md", "setup.sh"],
)
def test_what_does_not(path: str) -> None:
    """Code, tests and texts are no inputs: most commits change only those."""
    assert inputs(PLAN, {path: "1"}) == ()


def test_named_from_the_plans_folder() -> None:
    """A line's path is looked up where the line runs."""
    plan = EnvironmentPlan("node", ("sh x/y.sh",), "", "exit_code", "t", directory="web")
    assert inputs(plan, {"web/x/y.sh": "1", "y.sh": "2"}) == (("web/x/y.sh", "1"),)


def test_keys_follow_the_inputs() -> None:
    """Other code keeps the key; another manifest, plan, image, version or owner changes it."""

    def key(source=None, plan=PLAN, base="image", version=None, **blobs: str) -> str:
        source = source or MemorySource({})
        return dependencies_key(source, plan, base, version or {}, {"setup.py": "1", **blobs})

    other = MemorySource({})
    other.repository = "2/shop"
    again = EnvironmentPlan(PLAN.language, PLAN.setup, PLAN.test, "exit_code", "elsewhere")
    assert key() == key(src="2") == key(plan=again)
    changed = {
        key(),
        key(**{"setup.py": "2"}),
        key(plan=EnvironmentPlan("python", ("pip install .",), "pytest", "pytest", "t")),
        key(base="other"),
        key(version={"PBR_VERSION": "1"}),
        key(source=other),
    }
    assert len(changed) == 6


@pytest.mark.parametrize(
    ("line", "manifest", "kept"),
    [
        ("npm ci || npm ci --ignore-scripts", '{"scripts": {"test": "x"}}', False),
        ("npm install", "{}", False),
        ("yarn install --immutable", "{}", False),
        ("npm ci", '{"scripts": {"prepare": "tsc"}}', True),
        ("npm ci", '{"workspaces": ["a"]}', True),
        ("npm ci", "not json", True),
        ("npm ci; make", "{}", True),
        ("npm ci && node build.js", "{}", True),
        ("npm run build", "{}", True),
        ("pip install -e .", "{}", True),
    ],
)
async def test_lines_of_a_second_set_up(line: str, manifest: str, kept: bool) -> None:
    """Only what certainly does the same thing again is left out."""
    plan = EnvironmentPlan("node", (line, "echo end"), "npm test", "exit_code", "t")
    again = await without_repeats(MemorySource({"package.json": manifest}), plan)
    assert (line in again.setup) is kept
    assert again.setup[-1] == "echo end"
