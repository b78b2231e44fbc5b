"""Read the reports of test runners: pure functions over untrusted bytes.

Each returns {test id: status} and raises ReportInvalid for anything it cannot read. Ids are
stable between runs; where an id occurs more than once its worst status counts for all of them, and
the others get a number (`id #2`): one that goes missing is missed.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from sandbox.base import TestStatus

MAX_TESTS = 200_000
MAX_ID = 1000

_ORDER: tuple[TestStatus, ...] = ("skip", "pass", "fail", "error")
_MARKS: dict[str, TestStatus] = {"failure": "fail", "error": "error", "skipped": "skip"}


class ReportInvalid(ValueError):
    """The report is not what its runner writes; there is no verdict in it."""


class Results(dict[str, TestStatus]):
    """Statuses by id; `put` keeps the worst."""

    def __init__(self) -> None:
        super().__init__()
        self._copies: dict[str, int] = {}

    def put(self, test: str, status: TestStatus) -> None:
        """Add one result; linear over all, whatever they are.

        A further "error" tells of the same test again (its teardown), not of another one.
        """
        test = test[:MAX_ID]
        old = self.get(test)
        worst = status if old is None else max(old, status, key=_ORDER.index)
        count = self._copies.get(test, 1)
        if old is not None and status != "error":
            count = self._copies[test] = count + 1
            self._set(f"{test} #{count}", worst)
        if worst != old:
            for name in (test, *(f"{test} #{n}" for n in range(2, count + 1))):
                self._set(name, worst)

    def _set(self, test: str, status: TestStatus) -> None:
        if len(self) >= MAX_TESTS and test not in self:
            raise ReportInvalid("more tests than a report may hold")
        self[test] = status


def parse_junit(data: bytes) -> Results:
    """JUnit XML of pytest (`junit_family=xunit1`) or of `node --test`.

    A document type is refused before anything in it is read: no entity is ever expanded.
    """
    reader = _JUnit()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise ReportInvalid(f"not well-formed: {error}") from None
    return reader.results


def _refuse_doctype(*_: object) -> None:
    raise ReportInvalid("a report has no document type")


class _JUnit:
    def __init__(self) -> None:
        self.results = Results()
        self._suites: list[str] = []
        self._case: dict[str, str] | None = None
        self._status: TestStatus = "pass"
        self._todo = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testcase":
            self._case, self._status, self._todo = attributes, "pass", False
        elif name == "testsuite":
            self._suites.append(attributes.get("name", ""))
        elif self._case is not None and name in _MARKS:
            mark = _MARKS[name]
            # node reports the failure of a test that is only planned, and does not count it
            self._todo = self._todo or attributes.get("type") == "todo"
            if self._status in {"pass", "skip"} or mark == "error":
                self._status = mark

    def end(self, name: str) -> None:
        if name == "testsuite" and self._suites:
            self._suites.pop()
        elif name == "testcase" and self._case is not None:
            status = "skip" if self._todo else self._status
            self.results.put(_junit_id(self._case, self._suites), status)
            self._case = None


def _junit_id(case: dict[str, str], suites: list[str]) -> str:
    """`tests/test_x.py::Class::test` for pytest, `suite > suite > test` for others.

    pytest gives dotted class names and the file where the function was written, which is
    another one for inherited tests: then the dotted name stays.
    """
    name, classname, file = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if file.endswith(".py") or classname:
        module = file.removesuffix(".py").replace("/", ".")
        if not classname and file.endswith(".py"):
            return file  # the file itself could not be collected
        if file and (classname == module or classname.startswith(module + ".")):
            inner = [part for part in classname[len(module) + 1 :].split(".") if part]
            return "::".join([file, *inner, name])
        if classname != "test":  # node writes "test" for every case
            return f"{classname}::{name}"
    return " > ".join([*(suite for suite in suites if suite), name])


_UNITTEST_STATUS: dict[str, TestStatus] = {
    "ok": "pass",
    "FAIL": "fail",
    "ERROR": "error",
    "expected failure": "skip",
    "unexpected success": "fail",
}


def parse_unittest(text: str) -> Results:
    """The lines of `unittest -v`, where nothing better can be had; ids are `module.Class.test`."""
    results = Results()
    pending = ""
    for line in text.splitlines():
        start = re.match(r"^([\w.]+) \(([\w.<>]+)\)", line)
        if start:
            test, where = start.groups()
            pending = where if where.endswith("." + test) else f"{where}.{test}"
        status = _unittest_status(line)
        if pending and status:
            results.put(pending, status)
            pending = ""
    return results


def _unittest_status(line: str) -> TestStatus | None:
    """A test's own output may stand between the dots and the status, or before it."""
    if re.search(r"(\.\.\. |^)skipped ['\"]", line):
        return "skip"
    found = re.search(r"(?:\.\.\. .*|^)(ok|FAIL|ERROR|expected failure|unexpected success)$", line)
    return _UNITTEST_STATUS[found.group(1)] if found else None


def parse_mocha(data: bytes) -> Results:
    """mocha's `--reporter json`; ids are `file > full title`, the file below the root."""
    report = _load(data)
    results = Results()
    kinds: tuple[tuple[str, TestStatus], ...] = (
        ("passes", "pass"),
        ("failures", "fail"),
        ("pending", "skip"),
    )
    for key, status in kinds:
        for test in _dicts(report.get(key)):
            results.put(_js_id(test.get("file"), test.get("fullTitle")), status)
    return results


def mocha_failures(data: bytes) -> int:
    """How many failures mocha reports, as its exit code says it: at most 255; 0 without them."""
    try:
        return min(len(list(_dicts(_load(data).get("failures")))), 255)
    except ReportInvalid:
        return 0


def mocha_output(data: bytes) -> str:
    """What the json reporter keeps to itself: how many passed, and why others did not."""
    try:
        report = _load(data)
    except ReportInvalid:
        return ""
    shown = [f"{len(list(_dicts(report.get('passes'))))} passing"]
    for test in _dicts(report.get("failures")):
        error = test.get("err")
        why = (error.get("stack") or error.get("message")) if isinstance(error, dict) else ""
        shown.append(f"FAILED {_js_id(test.get('file'), test.get('fullTitle'))}\n{why}")
    return "\n".join(shown) + "\n"


def parse_jest(data: bytes) -> Results:
    """jest's `--json`; a file that failed without a failed test is an "error" with its own id."""
    statuses: dict[str, TestStatus] = {"passed": "pass", "failed": "fail"}
    results = Results()
    for suite in _dicts(_load(data).get("testResults")):
        tests = list(_dicts(suite.get("assertionResults")))
        for test in tests:
            status = statuses.get(str(test.get("status")), "skip")
            results.put(_js_id(suite.get("name"), test.get("fullName")), status)
        told = any(test.get("status") == "failed" for test in tests)
        if suite.get("status") == "failed" and not told:
            results.put(_js_id(suite.get("name"), None), "error")
    return results


def _js_id(file: Any, title: Any) -> str:
    path = str(file or "").removeprefix("/workspace/")
    return " > ".join(part for part in (path, str(title or "")) if part)


def _load(data: bytes) -> dict[str, Any]:
    try:
        report = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportInvalid(f"not JSON: {error}") from None
    if not isinstance(report, dict):
        raise ReportInvalid("not an object")
    return report


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
