"""What the suite did before any change, in words."""

import pytest

from pipeline.notes import baseline_note
from sandbox.base import Environment, EnvironmentPlan, TestRun

PLAN = EnvironmentPlan("python", (), "pytest", "pytest", "test")


def ran(results: dict[str, str], why: str = "", *, timed_out: bool = False) -> TestRun:
    """One run of a suite."""
    code = 0 if results else None
    return TestRun(results, code, 3.0, timed_out=timed_out, structured=True, output="", why=why)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (ran({"a": "pass", "b": "fail"}), ran({"a": "pass"}), "1 tests pass, 1 fail before"),
        (ran({"a": "pass", "b": "pass"}), ran({"b": "pass"}), "1 pass at times and do not count"),
        (ran({"a": "pass"}), ran({}, "it ended early"), "0 tests pass, 0 fail, 1 pass at times"),
        (ran({}, "it printed without end"), None, "no verdict before any change (it printed"),
        (ran({}, timed_out=True), None, "did not end in 3 s"),
        (None, None, "no test command found"),
    ],
)
def test_a_base_without_a_plain_verdict(
    first: TestRun | None, second: TestRun | None, said: str
) -> None:
    """Absent, endless, flooding and flaky suites are told apart."""
    assert said in baseline_note(Environment("folder", PLAN, first, second, 0.0, ""))
