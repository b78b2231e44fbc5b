"""Reports that real runners left, of suites in which everything happens that can happen.

Each is named by its runner and version; the runs were made with the lines of
`sandbox.suite.command`, and only paths were changed afterwards.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.evidence.runs import contradicts
from sandbox.base import EnvironmentPlan, SuiteRunner, TestRun
from sandbox.runner import Outcome
from sandbox.suite.command import read_run

RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True)
class Case:
    """A recorded report, the exit code beside it, and what it says."""

    name: str
    runner: SuiteRunner
    exit_code: int
    results: Mapping[str, tuple[str, ...]]

    def read(self, data: bytes | None = None, exit_code: int | None = None) -> TestRun:
        """The run with its own report or other bytes."""
        plan = EnvironmentPlan("unknown", (), "python -m unittest", self.runner, "test")
        code = self.exit_code if exit_code is None else exit_code
        outcome = Outcome(code, b"", b"", 1.0, timed_out=False)
        return read_run(plan, outcome, self.data if data is None else data)

    @property
    def data(self) -> bytes:
        """What the runner wrote."""
        data = (RECORDED / self.name).read_bytes()
        return gzip.decompress(data) if self.name.endswith(".gz") else data


def below(prefix: str, *names: str) -> tuple[str, ...]:
    return tuple(prefix + name for name in names)


CASES = (
    Case(
        "pytest-9.2.xml",
        "pytest",
        1,
        {
            "pass": below(
                "test_all.py::",
                "test_passes",  # prints an escape, a zero and half a character
                "test_unexpected_pass",  # xfail that is not strict
                "test_parameters[a]",
                "test_parameters[b c]",
                "test_parameters[x::y]",
                "test_parameters[\\xe9]",
                "test_parameters[<&>]",
                "test_twice[1_0]",
                "test_twice[1_1]",
                "TestClass::test_inside",
                "Old::test_method",
            ),
            "fail": below("test_all.py::", "test_fails", "test_strict_unexpected_pass"),
            "error": below("test_all.py::", "test_fixture", "test_teardown"),
            "skip": below("test_all.py::", "test_skipped", "test_expected_failure"),
        },
    ),
    Case(
        "unittest-3.11.jsonl",
        "unittest",
        1,
        {
            "pass": below("unit_all.All.test_", "documented", "passes"),
            "fail": below("unit_all.All.test_", "fails", "subtests", "unexpected_success"),
            "error": (
                "unit_all.All.test_errors",
                "setUpClass (unit_all.Broken)",
                "unittest.loader._FailedTest.nothing",
            ),
            "skip": below("unit_all.All.test_", "expected_failure", "skipped"),
        },
    ),
    Case(
        "node-20.20.xml",
        "node",
        1,
        {
            "pass": (
                "passes",
                "takes a",
                "takes é &quot;q&quot;",
                "takes <&>",
                "suite > inside",
                "parent > child",
                "/workspace/test/exits.test.js",  # its tests, one of which exits, are missing
                "only here",
            ),
            "fail": (
                "fails",
                "throws a string",
                "times out",
                "same name",
                "same name #2",
                "same name #3",  # the one of another file
                "suite > deeper > fails inside",
                "suite > hook > never",
                "parent > bad child",
                "/workspace/test/syntax.test.js",
            ),
            "skip": ("skipped", "todo passes", "todo fails"),
        },
    ),
    Case(
        "jest-30.5.json",
        "jest",
        1,
        {
            "pass": below(
                "t/all.test.js > ",
                "passes",
                "expected failure",
                "takes a",
                "takes é",
                "takes %d",
                "suite inside",
            ),
            "fail": below(
                "t/all.test.js > ", "fails", "times out", "same name", "same name #2", "hook never"
            ),
            "error": ("t/load.test.js", "t/syntax.test.js"),
            "skip": below("t/all.test.js > ", "skipped", "todo"),
        },
    ),
    Case(
        "vitest-4.1.json",
        "vitest",
        1,
        {
            "pass": below(
                "t/vall.test.js > ",
                "passes",
                "expected failure",
                "takes a",
                "takes é",
                "takes %d",
                "suite inside",
            ),
            "fail": below("t/vall.test.js > ", "fails", "times out", "same name", "same name #2"),
            "error": ("t/vsyntax.test.js",),
            "skip": below("t/vall.test.js > ", "skipped", "todo", "hook never"),
        },
    ),
    Case(
        "vitest-4.1-exits.json",
        "vitest",
        1,
        {
            "pass": below("t/vexits.test.js > ", "before", "after"),
            "fail": ("t/vexits.test.js > exits",),
        },
    ),
    Case(
        "mocha-12.0.json",
        "mocha",
        6,
        {
            "pass": below("t/mall.js > ", "passes", "suite inside", "after fine"),
            "fail": below(
                "t/mall.js > ",
                "fails",
                "times out",
                "same name",
                "same name #2",
                "suite fails inside",
                'hook "before all" hook for "never"',
                'after "after all" hook for "fine"',
            ),
            "skip": below("t/mall.js > ", "skipped", "pending"),
        },
    ),
    Case(
        "go-1.27.jsonl",
        "go",
        1,
        {
            "pass": (
                *below(
                    "example.org/rec/price::",
                    "TestPasses",  # prints an event without an end of line
                    "TestTable/a_b",
                    "TestTable/a_b#01",
                    "TestTable/é",
                    "TestTable/#00",
                    "TestBinary",
                    "FuzzSeeds",
                    "FuzzSeeds/seed#0",
                ),
                *(f"example.org/rec/{name}::TestBefore" for name in ("exits", "hang", "leaves")),
            ),
            "fail": (
                *below(
                    "example.org/rec/price::", "TestFails", "TestTable", "TestTable/x/y", "Example"
                ),
                "example.org/rec/exits::TestPanics",
                "example.org/rec/leaves::TestLeaves",  # os.Exit(0); what came after is missing
            ),
            "error": ("example.org/rec/bad", "example.org/rec/hang::TestHangs"),
            "skip": ("example.org/rec/price::TestSkipped",),
        },
    ),
    Case(
        "cargo-1.95.txt",
        "cargo",
        101,
        {
            "pass": (
                *below("rec::tests::", "panics", "same::passes", "speaks", "passes"),
                *below("fine::", "fine", "also"),
            ),
            "fail": (
                *below("rec::tests::", "fails", "result"),
                *below("rec::src/lib.rs -", "", " #2", " #3"),  # one of three examples failed
            ),
            "error": ("crash", "exits"),  # abort, and exit(0) that cargo takes for success
            "skip": ("rec::tests::skipped",),
        },
    ),
    Case(
        "surefire-2.22.tar.gz",
        "surefire",
        1,
        {
            "pass": (
                *below("shop.ParametersTest::takes[", "b c]", "b c] #2", "<é>]"),
                *below("shop.AllTest::", "expected", "passes"),
            ),
            "fail": ("shop.ParametersTest::takes[a]", "shop.AllTest::fails"),
            "error": (
                *below("shop.AllTest::", "timesOut", "errors"),
                "shop.BrokenTest::shop.BrokenTest",
            ),
            "skip": below("shop.AllTest::", "assumes", "skipped"),
        },
    ),
)
EACH = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@EACH
def test_what_a_real_runner_says(case: Case) -> None:
    """Every way to end has its status, ids tell all tests apart, and the exit code agrees."""
    run = case.read()
    assert run.structured
    expected = {name: status for status, names in case.results.items() for name in names}
    assert dict(run.results) == expected
    assert not contradicts(run)
    assert contradicts(case.read(exit_code=0))


@EACH
def test_a_part_of_a_report_never_gains_a_pass(case: Case) -> None:
    """Cut anywhere it is no verdict, or says no more than the whole did."""
    whole, data = case.read().results, case.data
    # of several with one id the worst may stand in the part that is lost
    once = {name for name in whole if " #" not in name and f"{name} #2" not in whole}
    for at in range(0, len(data), max(1, len(data) // 40)):
        cut = case.read(data[:at])
        if cut.structured:
            assert set(cut.results) <= set(whole)
            assert all(whole[name] == "pass" for name in cut.with_status("pass") & once)


@EACH
@pytest.mark.parametrize("junk", [b"\x00\xff\xfe", b"\n\n", b"<!DOCTYPE x>", b'{"a":'])
def test_bytes_in_the_way_are_survived(case: Case, junk: bytes) -> None:
    """Whatever stands in front of, in or behind a report: a verdict of known ids, or none."""
    data = case.data
    for at in (0, len(data) // 3, len(data)):
        run = case.read(data[:at] + junk + data[at:])
        assert not run.structured or len(run.results) <= len(case.read().results) + 1


def test_a_printed_result_is_noticed() -> None:
    """A line that looks like a result makes cargo's counts wrong, and no result of it counts."""
    case = Case("cargo-1.95-forged.txt", "cargo", 101, {})
    assert not case.read().structured
    assert case.read().results == {"suite": "fail"}
    assert case.read(exit_code=0).results == {}


def test_unittest_that_is_ended_from_inside() -> None:
    """`os._exit(0)` in a test: the exit code says that all is well, and there is no verdict."""
    case = Case("unittest-3.11-exits.jsonl", "unittest", 0, {})
    assert case.read().results == {}
    assert not case.read().structured


def test_mocha_counts_failures_in_its_exit_code() -> None:
    """137 failures are no kill, and a kill beside a report is no verdict."""
    many = b",".join(b'{"fullTitle": "t%d"}' % n for n in range(137))
    data = b'{"passes": [{"fullTitle": "p"}], "failures": [' + many + b"]}"
    case = Case("mocha-12.0.json", "mocha", 137, {})
    assert len(case.read(data).with_status("fail")) == 137
    assert case.read().results == {}
