"""`prism demo --once`: the whole product on a real project, with an engine and without one."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.demo.processes import child_environment
from emulator.scenarios.scenario import load
from tests.images import remove_environments

CHECKOUT = Path(__file__).parents[3]
ACCEPTANCE = CHECKOUT / "tests/emulator/scenarios/acceptance/tenacity_statistics.py"
SCENARIO = load("tenacity")
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Shown:
    """What a demo left: the object it wrote, its screen, the folder with everything in it."""

    isolation: str
    data: dict[str, Any]
    screen: str
    work: Path

    @property
    def candidates(self) -> Mapping[str, dict[str, Any]]:
        """The candidates by id."""
        return {each["id"]: each for each in self.data["candidates"]}


@pytest.fixture(
    scope="module", params=[pytest.param("container", marks=pytest.mark.engine), "none"]
)
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """A demo that ran to its end, once with containers and once without an engine."""
    isolation: str = request.param
    folder = tmp_path_factory.mktemp("demo")
    no_engine = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"} if isolation == "none" else {}
    # the archive's cache is kept out of this user's home
    environ = {"XDG_CONFIG_HOME": str(folder / "config"), "COLUMNS": "200", **no_engine}
    argv = ["demo", "--once", "--json", str(folder / "demo.json"), "--work", str(folder / "work")]
    ended = subprocess.run(
        [sys.executable, "-m", "app.cli", *argv],
        env=child_environment(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if isolation == "container":
        remove_environments(folder / "work" / "data")
    assert ended.returncode == 0, ended.stdout[-4000:]
    data = json.loads((folder / "demo.json").read_text(encoding="utf-8"))
    return Shown(isolation, data, ended.stdout, folder / "work")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with what tenacity's tests need, tenacity left out."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    environ = {**os.environ, "PATH": f"{venv / 'bin'}:{os.environ['PATH']}"}
    for line in SCENARIO.environment.setup:
        subprocess.run(["bash", "-c", line], env=environ, check=True)
    return venv / "bin" / "python"


def test_one_object_says_what_happened(shown: Shown) -> None:
    """Every key that is promised, with values that fit each other and the run."""
    data = shown.data
    assert data["pull_request"].keys() >= {"number", "branch", "title", "body", "draft"}
    assert data["pull_request"]["draft"] is True
    assert data["pull_request"]["branch"] == "prism/issue-1"
    assert "Fixes #1" in data["pull_request"]["body"]
    assert data["patch"].startswith("diff --git ")
    assert data["sandbox"] == {"isolation": shown.isolation}
    assert data["model_calls"] > 12 * 4
    assert data["tokens"] > data["model_calls"]
    assert 0 < data["cached_share"] < 1
    assert data["wall_seconds"] > 0


def test_the_screen_says_what_is_not_real(shown: Shown) -> None:
    """That the model is scripted, and whether anything isolates the code; the PR says the same."""
    body = shown.data["pull_request"]["body"]
    assert "The model is scripted" in shown.screen
    assert ("not isolated" in shown.screen) == (shown.isolation == "none")
    assert ("containers without network" in shown.screen) == (shown.isolation == "container")
    assert "**Scripted model:**" in body
    assert ("**Not isolated:**" in body) == (shown.isolation == "none")
    assert shown.data["pull_request"]["url"] in shown.screen


def test_twelve_candidates_in_three_stages(shown: Shown) -> None:
    """The paper's counts: 3 solutions, 6 variants, 3 integrated plans, each with its evidence."""
    stages = [each["stage"] for each in shown.data["candidates"]]
    counts = {stage: stages.count(stage) for stage in ("global", "local", "synthesis")}
    assert counts == {"global": 3, "local": 6, "synthesis": 3}
    for each in shown.data["candidates"]:
        assert each.keys() >= {"id", "stage", "cluster", "votes", "gate", "evidence"}


def test_the_gate_and_the_vote_show_what_prism_is_for(shown: Shown) -> None:
    """Halves fail a reproduction, a broad copy breaks tests, whole repairs agree; no unanimity."""
    candidates = shown.candidates
    passed = {name for name, each in candidates.items() if each["gate"]["ok"]}
    assert passed == candidates.keys() - SCENARIO.intended.rejected.keys()
    for half in ("G1", "G3"):
        assert "fail" in candidates[half]["evidence"]["reproductions"].values()
        assert candidates[half]["evidence"]["lost"] == []
    assert len(candidates["G2"]["evidence"]["lost"]) == 4

    winner = candidates[shown.data["winner"]]
    assert winner["id"] in passed
    assert winner["votes"] == max(candidates[name]["votes"] for name in passed)
    assert winner["votes"] < len(candidates)
    assert len({each["cluster"] for each in candidates.values()}) > 2


def test_the_branch_on_github_is_the_patch(shown: Shown) -> None:
    """Beside the default branch there is one, and it differs from it by the voted patch."""
    (repository,) = (shown.work / "github" / "repositories").glob("*/tenacity.git")
    branches = git(repository, "branch", "--format=%(refname:short)").split()
    assert sorted(branches) == ["main", "prism/issue-1"]
    diff = ("diff", "--no-renames", "--binary", "--full-index", "main", "prism/issue-1")
    assert git(repository, *diff) == shown.data["patch"]


def test_the_patch_repairs_tenacity(shown: Shown, python: Path, tmp_path: Path) -> None:
    """Its own 125 tests pass, and two tests of the bug that the script does not contain."""
    tree = tmp_path / "tenacity"
    git(tmp_path, "clone", "--quiet", str(shown.work / "scenario" / "repository"), str(tree))
    hidden = tree / "tests" / "test_acceptance.py"
    hidden.write_text(ACCEPTANCE.read_text(encoding="utf-8"), encoding="utf-8")
    assert "2 failed" in pytest_says(python, tree, str(hidden))

    (tmp_path / "voted.patch").write_text(shown.data["patch"], encoding="utf-8")
    git(tree, "apply", "--index", str(tmp_path / "voted.patch"))
    assert "2 passed" in pytest_says(python, tree, str(hidden))
    hidden.unlink()
    added = git(tree, "diff", "--cached", "--name-only", "--diff-filter=A").split()
    own = pytest_says(python, tree, *(f"--ignore={name}" for name in added))
    assert own.startswith("125 passed"), own


def pytest_says(python: Path, tree: Path, *arguments: str) -> str:
    """pytest's last line without decoration, run as the project is developed: from its tree."""
    argv = [python, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(argv, cwd=tree, env=environ, capture_output=True, text=True, check=False)
    return ran.stdout.strip().splitlines()[-1]


def git(where: Path, *arguments: str) -> str:
    ran = subprocess.run(
        ["git", "-C", str(where), *arguments], capture_output=True, text=True, check=True
    )
    return ran.stdout
