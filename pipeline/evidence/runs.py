"""Read test runs as evidence: what counts as failing, passing or no verdict. Pure.

A missing report is never a pass (method.md §2.3.6, §6.3).
"""

import re
from collections.abc import Iterable

from pipeline.values import CheckStatus
from sandbox.base import EnvironmentPlan, TestRun

# What unittest calls an error also covers exceptions that the code under test raised.
_UNITTEST_LOADING = ("_FailedTest", "setUpClass", "setUpModule", "tearDownClass", "tearDownModule")


def failing(run: TestRun, runner: str) -> tuple[frozenset[str], frozenset[str]]:
    """Tests that failed in their body, and what could not even be run (collection, fixtures).

    An exception out of the code under test is a failure of the body like an assertion. unittest
    reports it as an error, so there only what fails while loading is set apart.
    """
    failed, errors = run.with_status("fail"), run.with_status("error")
    if runner == "unittest":
        loading = frozenset(t for t in errors if any(mark in t for mark in _UNITTEST_LOADING))
        return failed | (errors - loading), loading
    return failed, errors


def check_status(run: TestRun, tests: Iterable[str], runner: str) -> CheckStatus:
    """What a run of one reproduction file says about `tests`, those that fail on the base.

    "pass" only when every one of them passed and nothing else in the file fails.
    """
    if run.timed_out:
        return "timeout"
    failed, errors = failing(run, runner)
    if failed:
        return "fail"
    if errors:
        return "error"
    wanted = set(tests)
    return "pass" if wanted and wanted <= run.with_status("pass") else "missing"


def contradicts(run: TestRun) -> bool:
    """Whether the exit code and the report tell different stories, so that neither counts.

    A report can be rewritten by the code under test; the exit code is harder to reach. Some
    suites do this on their own (coverage thresholds), so compare with the base's run first.
    """
    if not run.structured or run.exit_code is None:
        return False
    return (run.exit_code == 0) == bool(run.with_status("fail") | run.with_status("error"))


def target_of(test: str, plan: EnvironmentPlan) -> str | None:
    """What to give the runner to run one test (or its file) alone, None when it cannot."""
    if plan.runner in ("pytest", "unittest", "go", "cargo", "surefire"):
        return re.sub(r" #\d+$", "", test)  # the number of one of several with the same id
    if plan.runner in ("mocha", "jest", "vitest") and " > " in test:
        return test.partition(" > ")[0]
    return None


def file_of(test: str, files: Iterable[str]) -> str | None:
    """The file a test id names, out of `files`; None when it names none."""
    known = frozenset(files)
    for separator in ("::", " > "):
        path = test.partition(separator)[0]
        if path in known:
            return path
    # unittest's dotted names, and pytest's for inherited tests: the longest that is a module
    parts = test.partition("::")[0].split(".")
    for length in range(len(parts), 0, -1):
        path = "/".join(parts[:length]) + ".py"
        if path in known:
            return path
    return None
