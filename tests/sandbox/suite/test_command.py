"""Commands that leave reports, and the verdict of a run."""

import pytest

from sandbox.base import EnvironmentPlan, SuiteRunner
from sandbox.runner import Outcome
from sandbox.suite.command import pytest_without_paths, read_run, suite_command

PASSED = b"<testsuite><testcase name='test_a' classname='test_m' file='test_m.py'/></testsuite>"


def plan(test: str, runner: SuiteRunner) -> EnvironmentPlan:
    return EnvironmentPlan("python", (), test, runner, "test")


def outcome(exit_code: int | None, text: str = "", timed_out: bool = False) -> Outcome:
    return Outcome(exit_code, text.encode(), b"", 1.0, timed_out=timed_out)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pytest", "pytest"),
        ("python -m pytest -q tests", "python -m pytest -q"),
        ("pytest -k 'a or b' -n 2 tests/unit -x", "pytest -k 'a or b' -n 2 -x"),
        (".venv/bin/pytest --tb=short tests", ".venv/bin/pytest --tb=short"),
        ("cd lib && pytest", "python -m pytest"),
        ("make test", "python -m pytest"),
    ],
)
def test_only_options_stay(line: str, expected: str) -> None:
    """Options and their values stay, folders go."""
    assert pytest_without_paths(line) == expected


def test_targets_are_quoted() -> None:
    """A target is one word for the shell, whatever is in it."""
    command = suite_command(plan("pytest -q", "pytest"), ("tests/a b.py::t[x y]",), "/tmp/r")
    assert command is not None
    assert command.line == "pytest -q 'tests/a b.py::t[x y]'"


@pytest.mark.parametrize(
    ("test", "runner", "line"),
    [
        ("npm test", "mocha", "npm test -- --reporter json --reporter-option output=/tmp/r"),
        ("npx jest", "jest", "npx jest --json --outputFile=/tmp/r"),
        ("coverage run -m unittest", "unittest", "coverage run -m unittest -v"),
        ("./check", "exit_code", "./check"),
    ],
)
def test_runner_is_made_to_report(test: str, runner: SuiteRunner, line: str) -> None:
    """Each runner gets its own option for a report."""
    command = suite_command(plan(test, runner), (), "/tmp/r")
    assert command is not None
    assert command.line == line


def test_no_command() -> None:
    """Without a test command, or for parts of an unknown runner, there is nothing to run."""
    assert suite_command(plan("", "pytest"), (), "/tmp/r") is None
    assert suite_command(plan("./check", "exit_code"), ("a",), "/tmp/r") is None


@pytest.mark.parametrize("code", [None, 3, 4, 5, 127, 137])
def test_crash_is_no_verdict(code: int | None) -> None:
    """A report beside a crash, a usage error or an ended run counts for nothing."""
    run = read_run(plan("pytest", "pytest"), outcome(code, timed_out=code is None), PASSED)
    assert run.results == {}
    assert not run.structured


@pytest.mark.parametrize("report", [None, b"<cut", b"<testsuite/>"])
def test_without_report_the_exit_code_counts(report: bytes | None) -> None:
    """A missing, broken or empty report leaves one id judged by the exit code."""
    run = read_run(plan("pytest", "pytest"), outcome(1), report)
    assert run.results == {"suite": "fail"}
    assert not run.structured


def test_report_is_read() -> None:
    """A complete run has its runner's ids."""
    run = read_run(plan("pytest", "pytest"), outcome(0), PASSED)
    assert run.results == {"test_m.py::test_a": "pass"}
    assert run.structured


@pytest.mark.parametrize("runner", ["pytest", "jest", "vitest", "mocha", "node"])
@pytest.mark.parametrize("report", [b"<cut", b"", b"{}", b"[]", b"<testsuite/>"])
def test_broken_report_is_never_a_pass(runner: SuiteRunner, report: bytes) -> None:
    """An exit code of 0 beside a report that says nothing is no verdict."""
    run = read_run(plan("npm test", runner), outcome(0), report)
    assert run.results == {}
    assert not run.structured


@pytest.mark.parametrize("runner", ["go", "cargo", "surefire"])
@pytest.mark.parametrize("report", [None, b"", b'{"Action":', b"test a ... ok"])
def test_lost_report_is_never_a_pass(runner: SuiteRunner, report: bytes | None) -> None:
    """Where the shell itself makes the report, a missing one is no verdict either."""
    assert read_run(plan("make test", runner), outcome(0), report).results == {}
    assert read_run(plan("make test", runner), outcome(1), report).results == {"suite": "fail"}
