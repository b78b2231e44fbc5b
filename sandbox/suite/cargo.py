"""Cargo: the text of `cargo test`, held against the counts each test binary prints.

Stable Rust has no other report. Tests that write past the harness can break a line in two;
what cannot be told apart then makes the counts wrong and the report no verdict.
"""

import posixpath
import re
import shlex
from dataclasses import dataclass, field

from sandbox.base import TestStatus
from sandbox.suite.report import ReportInvalid, Results

_CALL = re.compile(r"\bcargo test\b")
_QUIET = re.compile(r" (-q|--quiet)(?= |$)")
_BINARY = re.compile(
    r"^ +Running (?:unittests )?(\S+)(?: \((\S+?)(?:-[0-9a-f]{16})?(?:\.exe)?\))?$"
)
_DOCS = re.compile(r"^ +Doc-tests (\S+)$")
_BEGIN = re.compile(r"^running (\d+) tests?$")
_TEST = re.compile(r"^test (.+?)(?: - should panic| - compile(?: fail)?)? \.\.\. ?(.*)$")
_STATUS = re.compile(r"(?:^|.*?)(ok|FAILED|ignored(?:, .*)?)(?: <[\d.]+s>)?$")
_RESULT = re.compile(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; "
    r"(\d+) measured; (\d+) filtered out"
)
# Cargo's own words after a binary that did not come to its result.
_FAILED = re.compile(r"^error(?:: test failed|: doctest failed|: \d+ targets? failed)")
_STATUSES: dict[str, TestStatus] = {"ok": "pass", "FAILED": "fail", "ignored": "skip"}


def cargo_line(test: str, targets: tuple[str, ...], report: str) -> str:
    """The line with its text in `report`: all of `test`, or the targets alone.

    Targets are ids `crate::path`, which are looked for in every binary, or files: those below
    `tests/` are binaries, others modules. Every binary runs, also after one that failed.
    """
    line = _QUIET.sub("", test)
    line = _CALL.sub("cargo test --no-fail-fast", line) if "--no-fail-fast" not in line else line
    if targets:
        line = " ; ".join(f"{call} || code=$?" for call in _calls(targets))
        return f"code=0 ; {{ {line} ; }} > {shlex.quote(report)} 2>&1 ; exit $code"
    return f"{{ {line} ; }} > {shlex.quote(report)} 2>&1"


def _calls(targets: tuple[str, ...]) -> list[str]:
    call = "cargo test --workspace --offline --no-fail-fast"
    files = [target for target in targets if target.endswith(".rs")]
    binaries = [path for path in files if re.search(r"(^|/)tests/[^/]+\.rs$", path)]
    calls = []
    if binaries:
        stems = (posixpath.basename(path).removesuffix(".rs") for path in binaries)
        calls.append(" ".join([call, *(f"--test {shlex.quote(stem)}" for stem in stems)]))
    calls += [f"{call} {_module(path)}" for path in files if path not in binaries]
    names = tuple(target.partition("::")[2] for target in targets if not target.endswith(".rs"))
    if names:
        exact = "" if any(" - " in name or name.endswith(" -") for name in names) else "--exact "
        calls.append(f"{call} -- {exact}{' '.join(map(shlex.quote, names))}")
    return calls


def _module(path: str) -> str:
    """What chooses a source file's own tests: its crate for a root, else its module's name."""
    inner = re.sub(r"^.*?\bsrc/", "", path).removesuffix(".rs").removesuffix("/mod")
    if inner == "lib":
        return "--lib"
    if inner == "main" or inner.startswith("bin/"):
        return "--bins"
    return shlex.quote(inner.replace("/", "::") + "::")


@dataclass
class _Binary:
    """One test binary's part of the text."""

    crate: str
    announced: int | None = None
    tests: list[tuple[str, TestStatus]] = field(default_factory=list)
    pending: str = ""


def parse_cargo(data: bytes) -> Results:
    """The text of `cargo test`; ids are `crate::path`, for examples in comments with the file.

    A binary that ended without its result (abort, exit in a test) is one "error" with the crate
    as its id. Raises ReportInvalid where a binary's counts are not those of the lines read.
    """
    reader = _Reader()
    for line in data.decode(errors="replace").splitlines():
        reader.line(line)
    if reader.binary is not None:
        raise ReportInvalid("a test binary has begun and not ended")
    return reader.results


class _Reader:
    def __init__(self) -> None:
        self.results = Results()
        self.binary: _Binary | None = None
        self._crate = "crate"

    def line(self, line: str) -> None:
        if started := (_BINARY.match(line) or _DOCS.match(line)):
            self._stopped()
            self._crate = _crate(started)
        elif self.binary is None or self.binary.announced is None:
            self._outside(line)
        elif result := _RESULT.match(line):
            self._end(tuple(int(count) for count in result.groups()))
        elif _FAILED.match(line):
            self._stopped()
        else:
            _read_test(self.binary, line)

    def _outside(self, line: str) -> None:
        if begun := _BEGIN.match(line):
            self.binary = _Binary(self._crate, int(begun.group(1)))

    def _stopped(self) -> None:
        """The binary went away before its result: what it had not finished is unknown."""
        if self.binary is not None:
            self._keep(self.binary)
            self.results.put(self.binary.crate, "error")
            self.binary = None

    def _end(self, counts: tuple[int, ...]) -> None:
        binary, self.binary = self.binary, None
        if binary is None:
            return
        read = tuple(
            sum(status == wanted for _, status in binary.tests)
            for wanted in ("pass", "fail", "skip")
        )
        # Benchmarks are "measured", and nothing is said of them that could be read.
        if read != counts[:3] or binary.announced != sum(counts[:4]):
            raise ReportInvalid(f"{binary.crate} counts {counts[:3]}, its lines say {read}")
        self._keep(binary)

    def _keep(self, binary: _Binary) -> None:
        for test, status in binary.tests:
            self.results.put(f"{binary.crate}::{test}", status)


def _crate(started: re.Match[str]) -> str:
    """The crate's name out of the binary's path; its source file where the path is not shown."""
    named = started.group(2) if started.re is _BINARY else started.group(1)
    return posixpath.basename(named or started.group(1))


def _read_test(binary: _Binary, line: str) -> None:
    """A line that names a test may have its status, output before it, or the status later."""
    rest = line
    if named := _TEST.match(line):
        binary.pending, rest = re.sub(r" \(line \d+\)$", "", named.group(1)), named.group(2)
    if binary.pending and (status := _STATUS.match(rest)):
        binary.tests.append((binary.pending, _STATUSES[status.group(1).split(",")[0]]))
        binary.pending = ""
