"""What decides whether two commits can share what a set-up installed."""

from dataclasses import replace

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.inputs import counted, without_repeats
from sandbox.environment.record import dependencies_key, environment_key
from tests.fakes import MemorySource

PLAN = EnvironmentPlan("python", ("pip install -e .",), "pytest", "pytest", "t")


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
        "setup.sh",
        "bin/tool",
        "src/build.rs",
        "tests/package.json",
        ".puppeteerrc.cjs",
        ".yarn/releases/yarn.js",
        "jest.config.js",
        "wheels/a-1-py3-none-any.whl",
        "src/a.egg-info/entry_points.txt",
        "data.bin",
    ],
)
def test_what_counts(path: str) -> None:
    """Manifests, scripts, settings, archives, and every file nobody knows the use of."""
    assert counted({path: "1", "src/shop.py": "2"}) == ((path, "1"),)


@pytest.mark.parametrize(
    "path",
    [
        "src/shop.py",
        "README.md",
        "LICENSE",
        "tests/requirements.py",
        "docs/package.json.md",
        "tests/data/a.json",
        "web/app.tsx",
    ],
)
def test_what_does_not(path: str) -> None:
    """Code, tests and texts are no inputs: most commits change only those."""
    assert counted({path: "1"}) == ()


def test_keys_follow_the_inputs() -> None:
    """Another input, plan, image, version, owner or installation changes the key, nothing else."""

    def key(source=None, plan=PLAN, base="image", version=None, files="1", instance="a") -> str:
        source = source or MemorySource({})
        return dependencies_key(source, plan, base, version or {}, (("x", files),), instance)

    other = MemorySource({})
    other.repository = "2/shop"
    assert key() == key(plan=replace(PLAN, runner="exit_code", origin="elsewhere"))
    changed = {
        key(),
        key(files="2"),
        key(plan=replace(PLAN, setup=("pip install .",))),
        key(base="other"),
        key(version={"PBR_VERSION": "1"}),
        key(source=other),
        key(instance="b"),
    }
    assert len(changed) == 7
    own = [environment_key(MemorySource({}), PLAN, "image", {}, name) for name in ("a", "b")]
    assert own[0] != own[1]


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
