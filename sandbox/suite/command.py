"""Turn a plan's test command into one that leaves a report, and read the run's verdict."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sandbox.base import EnvironmentPlan, TestRun, TestStatus
from sandbox.runner import Outcome
from sandbox.suite.cargo import cargo_line, parse_cargo
from sandbox.suite.go import go_line, go_output, parse_go
from sandbox.suite.javascript import javascript_line, node_line, node_options
from sandbox.suite.report import (
    ReportInvalid,
    Results,
    mocha_failures,
    mocha_output,
    parse_jest,
    parse_junit,
    parse_mocha,
    parse_unittest,
)
from sandbox.suite.surefire import parse_surefire, surefire_line
from sandbox.suite.tap import parse_tap, tape_line
from sandbox.suite.unittests import parse_unittest_events, reports, unittest_line

REPORT_LIMIT = 32_000_000
OUTPUT_KEPT = 1_000_000

_SHELL_SIGNS = re.compile(r"[|&;<>()`$\n]")
# Options of pytest whose value is the next word.
_PYTEST_VALUES = frozenset(
    {"-k", "-m", "-p", "-n", "-c", "-o", "-W", "-r", "--tb", "--maxfail", "--rootdir", "--dist"}
    | {"--confcutdir", "--ignore", "--deselect", "--cov", "--cov-report", "--cov-config"}
    | {"--durations", "--junitxml", "--import-mode", "--timeout"}
)
# One module that cannot be imported, or a setting to stop early, must not hide all other tests.
_PYTEST_OPTIONS = "-o junit_family=xunit1 --continue-on-collection-errors --maxfail=0"
_PARSERS: Mapping[str, Callable[[bytes], Results]] = {
    "pytest": parse_junit,
    "unittest": parse_unittest_events,
    "node": parse_junit,
    "mocha": parse_mocha,
    "jest": parse_jest,
    "vitest": parse_jest,
    "go": parse_go,
    "cargo": parse_cargo,
    "surefire": parse_surefire,
    "tape": parse_tap,
}
# Runners whose report is their whole output, or files that are gathered after the run.
_LINES: Mapping[str, Callable[[str, tuple[str, ...], str], str]] = {
    "go": go_line,
    "cargo": cargo_line,
    "surefire": surefire_line,
    "tape": tape_line,
}
# What such a report would have printed.
_OUTPUTS: Mapping[str, Callable[[bytes], str]] = {
    "go": go_output,
    "cargo": lambda data: data.decode(errors="replace"),
    "tape": lambda data: data.decode(errors="replace"),
    "mocha": mocha_output,
}


@dataclass(frozen=True, slots=True)
class SuiteCommand:
    """A shell line and the environment that makes its runner write a report."""

    line: str
    env: Mapping[str, str] = field(default_factory=dict)


def suite_command(
    plan: EnvironmentPlan, targets: tuple[str, ...], report: str
) -> SuiteCommand | None:
    """The line to run; None when there is no test command or it cannot run `targets` alone.

    `report` is the path the runner is made to write. pytest takes its options from the
    environment, so any line that ends in pytest works, `make test` included. Files among the
    targets are named as the folder in which the line runs sees them.
    """
    if not plan.test:
        return None
    if plan.runner in _LINES:
        return SuiteCommand(_LINES[plan.runner](plan.test, targets, report))
    if plan.runner in ("pytest", "unittest"):
        return _python(plan, targets, report)
    if plan.runner == "node":
        env = {"NODE_OPTIONS": node_options(report)}
        return SuiteCommand(node_line(plan.test, targets), env)
    if plan.runner == "exit_code":
        return None if targets else SuiteCommand(plan.test)
    return SuiteCommand(javascript_line(plan.runner, plan.test, targets, report))


def _python(plan: EnvironmentPlan, targets: tuple[str, ...], report: str) -> SuiteCommand:
    chosen = " ".join(shlex.quote(target) for target in targets)
    if plan.runner == "unittest":
        verbose = f"python -m unittest -v {chosen}" if chosen else _verbose(plan.test)
        return SuiteCommand(unittest_line(verbose, report))
    line = f"{pytest_without_paths(plan.test)} {chosen}" if chosen else plan.test
    return SuiteCommand(line, {"PYTEST_ADDOPTS": f"--junitxml={report} {_PYTEST_OPTIONS}"})


def read_run(plan: EnvironmentPlan, outcome: Outcome, report: bytes | None) -> TestRun:
    """The verdict of one run: from its report, else one id "suite" by the exit code.

    No verdict (empty results) after a time-out, a flood, a crash, when nothing was collected, or
    when the report is there and cannot be read while the exit code says that all is well.
    """
    results: Mapping[str, TestStatus] = {}
    structured = False
    if outcome.exit_code is not None and not _crashed(plan, outcome.exit_code, report):
        read = _read_report(plan, outcome, report)
        structured = bool(read)
        results = read or _by_exit_code(plan, outcome.exit_code, reported=report is not None)
    return TestRun(
        results=results,
        exit_code=outcome.exit_code,
        duration_s=outcome.duration_s,
        timed_out=outcome.timed_out,
        structured=structured,
        output=outcome.text + _hidden_output(plan, report),
        why="" if results else _why(outcome),
    )


def _why(outcome: Outcome) -> str:
    """Why a run has no verdict, for people."""
    if outcome.disk_limit or outcome.timed_out or outcome.flooded:
        return outcome.reason
    if outcome.exit_code is None:
        return "it was ended from outside"
    if outcome.exit_code:
        return f"the test runner itself failed (exit code {outcome.exit_code})"
    return "it left no report that can be read"


def _hidden_output(plan: EnvironmentPlan, report: bytes | None) -> str:
    shown = _OUTPUTS[plan.runner](report) if report and plan.runner in _OUTPUTS else ""
    return shown[-OUTPUT_KEPT:]


def pytest_without_paths(line: str) -> str:
    """The pytest call of a line with its options and without files and folders.

    `python -m pytest` when the line is more than one plain call.
    """
    if _SHELL_SIGNS.search(line):
        return "python -m pytest"
    words = shlex.split(line)
    start = next((i for i, word in enumerate(words) if re.search(r"(^|/)py\.?test$", word)), None)
    if start is None:
        return "python -m pytest"
    kept, wants_value = words[: start + 1], False
    for word in words[start + 1 :]:
        if wants_value or word.startswith("-"):
            kept.append(word)
        wants_value = not wants_value and word in _PYTEST_VALUES
    return shlex.join(kept)


def _verbose(line: str) -> str:
    words = line.split()
    if words[-1:] == ["-v"] or " -v " in line or "--verbose" in line or _SHELL_SIGNS.search(line):
        return line
    return line + " -v"


def _crashed(plan: EnvironmentPlan, exit_code: int, report: bytes | None) -> bool:
    """Whether the runner itself failed. pytest: 3 internal error, 4 usage, 5 nothing collected.

    mocha's exit code counts failures, so a large one is no crash when the report has as many.
    """
    if plan.runner == "mocha" and exit_code >= 126 and report is not None:
        return mocha_failures(report) != exit_code
    return (
        exit_code in {126, 127} or exit_code >= 128 or (plan.runner == "pytest" and exit_code > 2)
    )


def _read_report(plan: EnvironmentPlan, outcome: Outcome, report: bytes | None) -> Results | None:
    try:
        if plan.runner == "unittest" and report is None and not reports(plan.test):
            return None if outcome.truncated else parse_unittest(outcome.text)
        parser = _PARSERS.get(plan.runner)
        return parser(report) if parser and report is not None else None
    except ReportInvalid:
        return None


def _by_exit_code(plan: EnvironmentPlan, exit_code: int, reported: bool) -> Results:
    results = Results()
    must_report = plan.runner in _LINES or (plan.runner == "unittest" and reports(plan.test))
    if exit_code == 0 and (reported or must_report):
        return results  # an empty or broken report of a run that claims to be fine
    if plan.runner != "unittest" or exit_code != 5:  # 5: no tests were run (Python 3.12)
        results.put("suite", "pass" if exit_code == 0 else "fail")
    return results
