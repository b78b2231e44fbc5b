"""Go's events, honest and hostile, and the lines that make them."""

import json
import subprocess
from pathlib import Path

import pytest

from sandbox.suite.go import go_line, go_output, parse_go
from sandbox.suite.report import ReportInvalid


def event(action: str, package: str, test: str = "", output: str = "") -> str:
    fields = {"Action": action, "Package": package, "Test": test, "Output": output}
    return json.dumps({name: value for name, value in fields.items() if value})


HONEST = [
    '{"ImportPath":"x/bad [x/bad.test]","Action":"build-output","Output":"undefined: y\\n"}',
    '{"ImportPath":"x/bad [x/bad.test]","Action":"build-fail"}',
    event("start", "x/bad"),
    event("fail", "x/bad"),
    event("start", "x/price"),
    event("run", "x/price", "TestParse"),
    event("run", "x/price", "TestParse/12"),
    event("output", "x/price", "TestParse/12", '{"Action":"fail"}\n'),
    event("pass", "x/price", "TestParse/12"),
    event("pass", "x/price", "TestParse"),
    event("run", "x/price", "TestLater"),
    event("skip", "x/price", "TestLater"),
    event("run", "x/price", "TestWrong"),
    event("fail", "x/price", "TestWrong"),
    event("fail", "x/price"),
    event("start", "x/exits"),
    event("run", "x/exits", "TestExits"),
    event("fail", "x/exits"),
    event("start", "x/empty"),
    event("skip", "x/empty"),
    "FAIL\tx/old [build failed]",
]


def data(lines: list[str]) -> bytes:
    return "\n".join(lines).encode()


def test_ids_and_statuses() -> None:
    """Tests are named by their package; what has no test of its own that failed is an error."""
    assert parse_go(data(HONEST)) == {
        "x/bad": "error",
        "x/price::TestParse": "pass",
        "x/price::TestParse/12": "pass",
        "x/price::TestLater": "skip",
        "x/price::TestWrong": "fail",
        "x/exits::TestExits": "error",
        "x/old": "error",
    }


@pytest.mark.parametrize("kept", range(3, len(HONEST) - 1))
def test_cut_report_is_none(kept: int) -> None:
    """A report that ends inside a package is refused, wherever it ends."""
    opened = {json.loads(one).get("Package") for one in HONEST[:kept]} - {None}
    ended = {
        json.loads(one)["Package"]
        for one in HONEST[:kept]
        if "Test" not in json.loads(one) and json.loads(one)["Action"] in ("pass", "fail", "skip")
    }
    if opened == ended:
        assert set(parse_go(data(HONEST[:kept])).values()) <= {"pass", "fail", "error", "skip"}
    else:
        with pytest.raises(ReportInvalid):
            parse_go(data(HONEST[:kept]))


@pytest.mark.parametrize(
    "lines",
    [
        ['{"Action":"pass"'],
        ["{" * 100_000],
        [event("run", "x", "T"), event("pass", "x", "T")],
        [event("start", "x"), '{"Action":"pass","Package":"x",}'],
    ],
)
def test_broken_report_is_none(lines: list[str]) -> None:
    """What is no event, or has no end, is no verdict."""
    with pytest.raises(ReportInvalid):
        parse_go(data(lines))


def test_odd_values_are_no_tests() -> None:
    """Values of other types name nothing and break nothing."""
    odd = ['{"Action":1,"Package":"x"}', '{"Action":"pass","Package":["x"]}', "plain", "{}"]
    assert parse_go(data([*odd, '{"Action":"pass","Package":"x","Test":{}}'])) == {}


def test_output_is_shown_as_without_events() -> None:
    """People and agents see what the tests wrote, not the events."""
    lines = [event("output", "x", "T", "a\n"), event("pass", "x"), "outside"]
    assert go_output(data(lines)) == "a\noutside\n"


@pytest.mark.parametrize(
    ("test", "targets", "line"),
    [
        ("go test ./...", (), "{ go test -json ./... ; } > /r"),
        ("cd a && go test -race . ", (), "{ cd a && go test -json -race .  ; } > /r"),
        (
            "go test ./...",
            ("x/a::TestA/b.c",),
            "code=0 ; { go test -json -run '^TestA$/^b\\.c$' x/a || code=$? ; } > /r ; exit $code",
        ),
        (
            "go test ./...",
            ("x/a::TestB", "x/a::TestA/b", "x/c"),
            "code=0 ; { go test -json x/c || code=$? ; "
            "go test -json -run '^(TestA|TestB)$' x/a || code=$? ; } > /r ; exit $code",
        ),
    ],
)
def test_lines(test: str, targets: tuple[str, ...], line: str) -> None:
    """Every call writes events; a target is one pattern for each level of its name."""
    assert go_line(test, targets, "/r") == line


def test_a_files_tests_are_looked_up(tmp_path: Path) -> None:
    """A file as a target runs the tests written in it, in the file's own package."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b/x_test.go").write_text(
        "package a\nfunc TestOne(t *testing.T) {}\nfunc helper() {}\nfunc ExampleTwo() {}\n"
    )
    (tmp_path / "go").write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 3\n')
    (tmp_path / "go").chmod(0o755)
    line = go_line("go test ./...", ("a b/x_test.go",), str(tmp_path / "report"))
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        check=False,
    )
    assert done.returncode == 3
    expected = "test|-json|-run|^(TestOne|ExampleTwo)$|./a b|"
    assert (tmp_path / "report").read_text() == expected
