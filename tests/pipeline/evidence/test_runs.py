"""Test runs as evidence."""

import pytest

from pipeline.evidence.runs import check_status, contradicts, file_of, target_of
from pipeline.values import CheckStatus
from sandbox.base import EnvironmentPlan, TestRun, TestStatus


def ran(*, timed_out: bool = False, **results: TestStatus) -> TestRun:
    """A run with these results."""
    return TestRun(results, 0, 0.0, timed_out, structured=True, output="")


@pytest.mark.parametrize(
    ("run", "runner", "status"),
    [
        (ran(a="pass", b="pass"), "pytest", "pass"),
        (ran(a="pass", b="pass", c="skip"), "pytest", "pass"),
        (ran(a="pass", b="fail"), "pytest", "fail"),
        (ran(a="pass", b="pass", c="fail"), "pytest", "fail"),
        (ran(a="pass", b="error"), "pytest", "error"),
        (ran(a="pass", b="error"), "unittest", "fail"),
        (ran(**{"loader._FailedTest.x": "error"}), "unittest", "error"),
        (ran(a="fail", b="error"), "pytest", "fail"),
        (ran(a="pass"), "pytest", "missing"),
        (ran(a="pass", b="skip"), "pytest", "missing"),
        (ran(), "pytest", "missing"),
        (ran(suite="pass"), "pytest", "missing"),
        (ran(timed_out=True, a="pass", b="pass"), "pytest", "timeout"),
    ],
)
def test_only_a_full_report_is_a_pass(run: TestRun, runner: str, status: CheckStatus) -> None:
    """Every wanted test has to be there and pass, and nothing else in the file may fail."""
    assert check_status(run, ("a", "b"), runner) == status


def test_no_wanted_test_is_no_pass() -> None:
    """Nothing asked is nothing shown."""
    assert check_status(ran(a="pass"), (), "pytest") == "missing"


@pytest.mark.parametrize(
    ("test", "file"),
    [
        ("tests/test_a.py::T::test_x[1]", "tests/test_a.py"),
        ("tests.test_a.T.test_x", "tests/test_a.py"),
        ("tests.test_a.T::test_x", "tests/test_a.py"),
        ("test/a.js > does > it", "test/a.js"),
        ("does > it", None),
        ("tests/other.py::test_x", None),
        ("suite", None),
    ],
)
def test_an_id_names_its_file(test: str, file: str | None) -> None:
    """Ids of each runner lead to a file of the repository, or to none."""
    assert file_of(test, ["tests/test_a.py", "test/a.js", "tests/__init__.py"]) == file


@pytest.mark.parametrize(
    ("runner", "target"),
    [
        *((runner, "f > t") for runner in ("pytest", "unittest", "go", "cargo", "surefire")),
        *((runner, "f") for runner in ("mocha", "jest", "vitest")),
        ("node", None),
        ("exit_code", None),
    ],
)
def test_what_can_be_run_alone(runner: str, target: str | None) -> None:
    """A single test, its file, or nothing, by runner."""
    plan = EnvironmentPlan("node", (), "x", runner, "")  # type: ignore[arg-type]
    assert target_of("f > t", plan) == target


@pytest.mark.parametrize(
    ("exit_code", "results", "expected"),
    [
        (0, {"x/a::T": "pass"}, False),
        (1, {"x/a::T": "pass", "x/a::U": "fail"}, False),
        (101, {"a::t": "pass", "b": "error"}, False),
        (0, {"x/a::T": "fail"}, True),  # a report no runner writes beside this exit code
        (0, {"x/a": "error"}, True),
        (1, {"x/a::T": "pass"}, True),  # some module did not even build
        (1, {"x/a::T": "skip"}, True),
        (None, {"x/a::T": "pass"}, False),
    ],
)
def test_report_and_exit_code_agree(
    exit_code: int | None, results: dict[str, TestStatus], expected: bool
) -> None:
    """Where a report and an exit code tell different stories, of any runner, neither counts."""
    run = TestRun(results, exit_code, 0.0, timed_out=False, structured=True, output="")
    assert contradicts(run) is expected
