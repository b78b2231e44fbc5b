"""unittest: it has no report of its own, so its runner is given one: an event for each outcome."""

import json
import re
import shlex

from sandbox.base import TestStatus
from sandbox.suite.report import ReportInvalid, Results

_CALL = re.compile(r"(?<![\w./-])((?:[\w.-]*/)*python[\d.]*(?: -[A-Za-z]+)*) -m unittest(?![\w.])")
_STATUSES: dict[str, TestStatus] = {
    "pass": "pass",
    "fail": "fail",
    "error": "error",
    "skip": "skip",
}
# Only this process writes: a test may fork. What it prints is the runner's own, as ever.
_PROGRAM = """
import json, os, sys, unittest
from unittest.main import main
out, own = open({report!r}, "w"), os.getpid()
def note(*event):
    if os.getpid() == own:
        out.write(json.dumps(event) + "\\n")
        out.flush()
class Result(unittest.TextTestResult):
    def startTest(self, test):
        note("start", test.id())
        super().startTest(test)
    def addSubTest(self, test, subtest, err):
        if err is not None:
            note("fail" if issubclass(err[0], test.failureException) else "error", test.id())
        super().addSubTest(test, subtest, err)
def noting(name, status):
    def add(self, test, *more):
        note(status, test.id())
        getattr(super(Result, self), name)(test, *more)
    setattr(Result, name, add)
for name, status in dict(addSuccess="pass", addFailure="fail", addError="error", addSkip="skip",
                         addExpectedFailure="skip", addUnexpectedSuccess="fail").items():
    noting(name, status)
class Runner(unittest.TextTestRunner):
    resultclass = Result
    def run(self, test):
        result = super().run(test)
        note("end", result.testsRun)
        return result
sys.argv[0] = "python -m unittest"
sys.path[:1] = [path or os.getcwd() for path in sys.path[:1]]  # as `-m` has it
main(module=None, testRunner=Runner)
"""


def reports(line: str) -> bool:
    """Whether the line calls unittest plainly, so that it can be made to report."""
    return _CALL.search(line) is not None


def unittest_line(line: str, report: str) -> str:
    """The line with every plain call of unittest writing its events to `report`."""
    program = shlex.quote(_PROGRAM.format(report=report))
    return _CALL.sub(lambda found: f"{found[1]} -c {program}", line)


def parse_unittest_events(data: bytes) -> Results:
    """The events; ids are `module.Class.test`. A failed sub-test is a failure of its test.

    Raises ReportInvalid when the run did not come to its end, or counts other tests than began:
    what was not reported is missing, not passed.
    """
    results, started, counted = Results(), 0, None
    for line in data.decode(errors="replace").splitlines():
        kind, value = _event(line)
        if kind == "start":
            started += 1
        elif kind == "end" and isinstance(value, int):
            counted = value
        elif kind in _STATUSES and isinstance(value, str):
            results.put(value, _STATUSES[kind])
        else:
            raise ReportInvalid("not an event of unittest")
    if counted is None or counted != started:
        raise ReportInvalid("the run has not come to its end")
    return results


def _event(line: str) -> tuple[str, object]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReportInvalid(f"not an event: {error}") from None
    if not (isinstance(event, list) and len(event) == 2 and isinstance(event[0], str)):
        raise ReportInvalid("not an event")
    return event[0], event[1]
