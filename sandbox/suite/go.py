"""Go: `go test -json`, whose events are read test by test and package by package."""

import json
import posixpath
import re
import shlex
from collections import defaultdict
from typing import Any

from sandbox.base import TestStatus
from sandbox.suite.report import ReportInvalid, Results

_CALL = re.compile(r"\bgo test\b(?! -json)")
_ENDS: dict[str, TestStatus] = {"pass": "pass", "fail": "fail", "skip": "skip"}
# What stands between the events, from compilers and before Go 1.24 for a package's end.
_NOT_BUILT = re.compile(r"^FAIL\s+(\S+) \[(?:build|setup) failed\]")


def go_line(test: str, targets: tuple[str, ...], report: str) -> str:
    """The line with its events in `report`: all of `test`, or the targets alone.

    Targets are ids `package::Test/sub`, packages, or files ending in `_test.go`.
    """
    line = " ; ".join(_calls(targets)) if targets else _CALL.sub("go test -json", test)
    keep = "code=0 ; " if targets else ""
    end = " ; exit $code" if targets else ""
    return f"{keep}{{ {line} ; }} > {shlex.quote(report)}{end}"


def _calls(targets: tuple[str, ...]) -> list[str]:
    tests: dict[str, set[str]] = defaultdict(set)
    calls: list[str] = []
    for target in targets:
        package, separator, test = target.partition("::")
        if separator:
            tests[package].add(test)
        elif target.endswith(".go"):
            calls.append(_file_call(target))
        else:
            calls.append(f"go test -json {shlex.quote(target)} || code=$?")
    calls += [
        f"go test -json -run {shlex.quote(_pattern(names))} {shlex.quote(package)} || code=$?"
        for package, names in tests.items()
    ]
    return calls


def _pattern(names: set[str]) -> str:
    """One test with its subtest, or several whole ones: -run has one pattern for each level."""
    if len(names) == 1:
        return "/".join(f"^{re.escape(part)}$" for part in names.pop().split("/"))
    return "^(" + "|".join(sorted({re.escape(name.split("/")[0]) for name in names})) + ")$"


def _file_call(path: str) -> str:
    """Go runs packages, not files: the names of a file's tests are looked up when it runs."""
    folder = shlex.quote("./" + posixpath.dirname(path))
    names = (
        "sed -nE 's/^func ((Test|Example|Fuzz)[A-Za-z0-9_]*)\\(.*/\\1/p' "
        f"{shlex.quote('./' + path)} | paste -sd'|' -"
    )
    return f'go test -json -run "^($({names}))\\$" {folder} || code=$?'


def parse_go(data: bytes) -> Results:
    """The events of `go test -json`; ids are `package::Test/sub`.

    A package that failed without a failed test, or could not be built, is one "error" with the
    package as its id; a test without an end is an "error" too. Raises ReportInvalid when an
    event cannot be read, or when a package has begun and not ended: then the rest is missing.
    """
    reader = _Events()
    for line in data.decode(errors="replace").splitlines():
        if line.startswith("{"):
            reader.event(_event(line))
        elif built := _NOT_BUILT.match(line):
            reader.results.put(built.group(1), "error")
            reader.open.discard(built.group(1))
    if reader.open:
        raise ReportInvalid("a package has begun and not ended")
    return reader.results


def go_output(data: bytes) -> str:
    """What the run would have printed without -json."""
    shown: list[str] = []
    for line in data.decode(errors="replace").splitlines():
        try:
            event = _event(line) if line.startswith("{") else {"Output": line + "\n"}
        except ReportInvalid:
            continue
        shown.append(str(event.get("Output") or ""))
    return "".join(shown)


def _event(line: str) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ReportInvalid(f"not an event: {error}") from None
    if not isinstance(event, dict):
        raise ReportInvalid("not an event")
    return event


class _Events:
    def __init__(self) -> None:
        self.results = Results()
        self.open: set[str] = set()
        self._tests: dict[str, set[str]] = defaultdict(set)
        self._failed: set[str] = set()

    def event(self, event: dict[str, Any]) -> None:
        package, test, action = event.get("Package"), event.get("Test"), event.get("Action")
        if not isinstance(package, str) or not isinstance(action, str):
            return  # the output of a build names an import path instead
        if isinstance(test, str):
            self._test(package, test, action)
        elif action in _ENDS:
            self._end(package, action)
        else:
            self.open.add(package)

    def _test(self, package: str, test: str, action: str) -> None:
        self.open.add(package)
        if action == "run":
            self._tests[package].add(test)
        elif action in _ENDS:
            self._tests[package].discard(test)
            self.results.put(f"{package}::{test}", _ENDS[action])
            if action == "fail":
                self._failed.add(package)

    def _end(self, package: str, action: str) -> None:
        self.open.discard(package)
        unfinished = self._tests.pop(package, set())
        for test in unfinished:
            self.results.put(f"{package}::{test}", "error")
        if action == "fail" and not unfinished and package not in self._failed:
            self.results.put(package, "error")
