"""Test commands that are only written down in CI workflows."""

import pytest

from sandbox.environment.ci import read_ci
from sandbox.environment.plan import make_plan
from tests.fakes import MemorySource

CI = ".github/workflows/ci.yml"


def workflow(*steps: str, on: str = "[push]", job: str = "check") -> str:
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"on: {on}\njobs:\n  {job}:\n    runs-on: ubuntu-latest\n    steps:\n{lines}"


@pytest.mark.parametrize(
    ("steps", "test"),
    [
        (["run: pip install pytest", "run: pytest -x tests"], "python -m pytest -x tests"),
        (["run: coverage run -m pytest"], "python -m pytest"),
        (["run: npm ci && npm test"], ""),
        (["run: make lint", "run: make test"], "make test"),
        (["{run: go test ./..., working-directory: src}"], "cd src && go test ./..."),
        (["{run: ./gradlew check, env: {A: b}}"], "A=b ./gradlew check"),
        (["run: tox -e py", "run: docker run x pytest"], ""),
        (["run: 'pytest ${{ secrets.A }}'"], ""),
        (["run: echo pytest"], ""),
    ],
)
async def test_test_lines(steps: list[str], test: str) -> None:
    """The line that tests is taken as it stands; what needs a network of its own is not."""
    found = await read_ci(MemorySource({CI: workflow(*steps)}), (CI,))
    assert (found.test if found else "") == test


async def test_jobs_off_topic_count_less() -> None:
    """A linting job that calls pytest stands behind a job that only calls make test."""
    files = {
        ".github/workflows/a-lint.yml": workflow("run: pytest --flake8", job="lint"),
        ".github/workflows/b.yml": workflow("run: make test"),
        ".github/workflows/c.yml": workflow("run: cargo test", on="{schedule: []}"),
    }
    found = await read_ci(MemorySource(files), tuple(files))
    assert found is not None
    assert (found.origin, found.test) == (".github/workflows/b.yml", "make test")


async def test_ci_fills_what_manifests_leave_open() -> None:
    """Without named test dependencies CI's pip lines are added, in front of the project."""
    files = {
        "setup.py": "",
        "tests/test_a.py": "",
        CI: workflow("run: pip install responses", "run: pytest"),
    }
    plan = await make_plan(MemorySource(files))
    assert plan.setup == ("pip install responses", "pip install -e .", "pip install pytest")
    assert plan.origin == f"set-up: setup.py and {CI}; test: setup.py"


async def test_ci_gives_only_the_test_of_an_unknown_project() -> None:
    """Nothing recognised but a test line in CI: the plan says how to test and how not to set up."""
    plan = await make_plan(MemorySource({CI: workflow("run: make check")}))
    assert (plan.language, plan.setup, plan.test) == ("unknown", (), "make check")
    assert plan.origin == f"set-up: nothing recognised; test: {CI}"
