"""Reports of test runners, honest and hostile."""

import json
import tracemalloc
from pathlib import Path

import pytest

from sandbox.suite.report import (
    ReportInvalid,
    Results,
    parse_jest,
    parse_junit,
    parse_mocha,
    parse_unittest,
)

PYTEST = b"""<?xml version="1.0" encoding="utf-8"?>
<testsuites name="pytest tests"><testsuite name="pytest" tests="6">
<testcase classname="tests.test_x" name="test_plain" file="tests/test_x.py" line="3" time="0.0"/>
<testcase classname="tests.test_x.TestA.TestB" name="test_in[a.b-1]" file="tests/test_x.py">
  <failure message="boom">trace</failure></testcase>
<testcase classname="tests.test_x" name="test_skipped" file="tests/test_x.py">
  <skipped type="pytest.skip" message="later"/></testcase>
<testcase classname="tests.test_x" name="test_teardown" file="tests/test_x.py"/>
<testcase classname="tests.test_x" name="test_teardown" file="tests/test_x.py">
  <error message="failed on teardown"/></testcase>
<testcase classname="tests.test_y.TestC" name="test_inherited" file="tests/base.py"/>
<testcase classname="" name="tests.test_z" file="tests/test_z.py">
  <error message="import"/></testcase>
</testsuite></testsuites>"""


def test_pytest_ids_and_statuses() -> None:
    """Ids are those pytest takes; a test that fails in its teardown is an error."""
    assert parse_junit(PYTEST) == {
        "tests/test_x.py::test_plain": "pass",
        "tests/test_x.py::TestA::TestB::test_in[a.b-1]": "fail",
        "tests/test_x.py::test_skipped": "skip",
        "tests/test_x.py::test_teardown": "error",
        "tests.test_y.TestC::test_inherited": "pass",
        "tests/test_z.py": "error",
    }


def test_node_ids() -> None:
    """Node's cases are named by their suites."""
    data = b"""<?xml version="1.0"?><testsuites>
    <testcase name="top" time="0.1" classname="test"/>
    <testsuite name="math"><testsuite name="sum"><testcase name="adds" classname="test">
    <failure type="testCodeFailure" message="no"/></testcase></testsuite></testsuite>
    </testsuites>"""
    assert parse_junit(data) == {"top": "pass", "math > sum > adds": "fail"}


BOMB = b"""<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<testsuite><testcase name="&c;"/></testsuite>"""


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<testsuite><testcase name='a'>",
        b"no xml",
        BOMB,
        BOMB.decode().replace("?>", " encoding='utf-16'?>", 1).encode("utf-16"),
        b"<!DOCTYPE t SYSTEM 'file:///etc/passwd'><testsuite/>",
    ],
)
def test_hostile_xml_gives_no_verdict(data: bytes) -> None:
    """What is cut off, no XML, or declares entities is refused."""
    with pytest.raises(ReportInvalid):
        parse_junit(data)


def test_external_entity_is_never_read(tmp_path: Path) -> None:
    """A file of this machine cannot be read through a report."""
    (tmp_path / "secret").write_text("secret")
    data = (
        f'<!DOCTYPE t [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><t><testcase name="&x;"/></t>'
    )
    with pytest.raises(ReportInvalid, match="document type"):
        parse_junit(data.encode())


def test_deep_and_long_reports_cost_little() -> None:
    """Deep nesting and endless names are read within a few times the report's size."""
    data = b"<t>" * 100_000 + b"<testcase name='" + b"x" * 1_000_000 + b"'/>" + b"</t>" * 100_000
    tracemalloc.start()
    (name,) = parse_junit(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(name) <= 1000
    assert peak < 25_000_000


UNITTEST = """test_a (tests.test_x.TestA.test_a) ... ok
test_b (tests.test_x.TestA) ... FAIL
test_c (tests.test_x.TestA.test_c)
Does what its first line says ... skipped 'later'
test_d (tests.test_x.TestA.test_d) ... printed by the test
ok
test_e (tests.test_x.TestA.test_e) ... expected failure
tests.test_y (unittest.loader._FailedTest.tests.test_y) ... ERROR

======================================================================
FAIL: test_b (tests.test_x.TestA)
----------------------------------------------------------------------
Ran 6 tests in 0.001s

FAILED (failures=1)
"""


def test_unittest_lines() -> None:
    """Old and new ids, docstrings and a test's own output are understood."""
    assert parse_unittest(UNITTEST) == {
        "tests.test_x.TestA.test_a": "pass",
        "tests.test_x.TestA.test_b": "fail",
        "tests.test_x.TestA.test_c": "skip",
        "tests.test_x.TestA.test_d": "pass",
        "tests.test_x.TestA.test_e": "skip",
        "unittest.loader._FailedTest.tests.test_y": "error",
    }


def test_mocha() -> None:
    """Files are named from the workspace's root."""
    case = {"fullTitle": "sum adds", "file": "/workspace/test/sum.js"}
    other = {"fullTitle": "sum fails"}
    data = json.dumps({"passes": [case], "failures": [other], "pending": [None, 3]}).encode()
    assert parse_mocha(data) == {"test/sum.js > sum adds": "pass", "sum fails": "fail"}


def test_jest() -> None:
    """A file that could not run is an error of its own."""
    data = json.dumps(
        {
            "testResults": [
                {
                    "name": "/workspace/a.test.js",
                    "assertionResults": [
                        {"fullName": "adds", "status": "passed"},
                        {"fullName": "fails", "status": "failed"},
                        {"fullName": "later", "status": "pending"},
                    ],
                },
                {"name": "/workspace/b.test.js", "status": "failed", "assertionResults": []},
            ]
        }
    ).encode()
    assert parse_jest(data) == {
        "a.test.js > adds": "pass",
        "a.test.js > fails": "fail",
        "a.test.js > later": "skip",
        "b.test.js": "error",
    }


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_json_that_is_none(data: bytes) -> None:
    """What is not a JSON object gives no verdict."""
    with pytest.raises(ReportInvalid):
        parse_jest(data)


def test_copies_are_told_apart() -> None:
    """Of tests with one id the worst counts for all, and one that goes missing is missed."""
    both, one = Results(), Results()
    for status in ("pass", "pass"):
        both.put("t", status)
    one.put("t", "pass")
    assert both == {"t": "pass", "t #2": "pass"}
    assert one == {"t": "pass"}
    both.put("t", "error")  # a teardown that failed is no third test
    assert both == {"t": "error", "t #2": "error"}


def test_many_copies_cost_their_number() -> None:
    """A report of one id a hundred thousand times is read as fast as any other."""
    results = Results()
    for _ in range(100_000):
        results.put("t", "pass")
    results.put("t", "fail")
    assert set(results.values()) == {"fail"}
    more = ("pass" for _ in range(100_000))
    with pytest.raises(ReportInvalid):
        any(results.put("t", status) for status in more)
