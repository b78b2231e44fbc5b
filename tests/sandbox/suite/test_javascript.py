"""Lines for JavaScript runners."""

import json
import subprocess
from pathlib import Path

import pytest

from sandbox.base import SuiteRunner
from sandbox.suite.javascript import javascript_line, node_line
from sandbox.suite.report import mocha_output


@pytest.mark.parametrize(
    ("runner", "targets", "end"),
    [
        ("jest", ("a/b [x].test.js",), "--json --outputFile=/r --runTestsByPath 'a/b [x].test.js'"),
        (
            "jest",
            ("a.test.js > sum adds (1)", "a.test.js > top > level"),
            r"/r -t '^(sum adds \(1\)|top > level)$' --runTestsByPath a.test.js",
        ),
        ("vitest", ("a.ts > adds", "b.ts"), "--outputFile.json=/r a.ts b.ts"),
        (
            "mocha",
            ("a.js > adds",),
            "--reporter json --reporter-option output=/r --grep '^(adds)$' a.js",
        ),
    ],
)
def test_parts(runner: SuiteRunner, targets: tuple[str, ...], end: str) -> None:
    """Files run as they are named, titles exactly; with a whole file among them no title does."""
    assert javascript_line(runner, "npm test", targets, "/r").endswith(end)


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("npm test", "npm test -- --json --outputFile=/r"),
        ("pnpm test", "pnpm test --json --outputFile=/r"),
        ("yarn test", "yarn test --json --outputFile=/r"),
        ("npm test -- --ci", "npm test -- --ci --json --outputFile=/r"),
    ],
)
def test_options_reach_the_runner(script: str, line: str) -> None:
    """Only npm wants a `--` of its own before what a script's runner is given."""
    assert javascript_line("jest", script, (), "/r") == line


def test_node_parts() -> None:
    """node's own runner takes a title by the names of its suites."""
    line = node_line("npm test", ("sum > adds [1]", "test/a.test.js"))
    assert line == r"node --test --test-name-pattern='^sum adds \[1\]$' test/a.test.js"


def test_mocha_loads_what_its_script_loads(tmp_path: Path) -> None:
    """A file alone is run with what the test script requires, not with its folders."""
    script = "nyc mocha --require test/env --reporter spec -r ts-node --ui=tdd test/ test/more/"
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": script}}))
    (tmp_path / "npx").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (tmp_path / "npx").chmod(0o755)
    line = javascript_line("mocha", "npm test", ("test/a.js",), "/r")
    shown = subprocess.run(
        ["bash", "-c", f'PATH="{tmp_path}:$PATH" ; {line}'], cwd=tmp_path, check=True, stdout=-1
    ).stdout.decode()
    assert shown == (
        "--no-install|mocha|--require|test/env|-r|ts-node|--ui=tdd|"
        "--reporter|json|--reporter-option|output=/r|test/a.js|"
    )


def test_mocha_says_why() -> None:
    """The reasons of failures are shown, though the reporter writes to a file."""
    failure = {"file": "/workspace/a.js", "fullTitle": "adds", "err": {"stack": "Error: no"}}
    data = json.dumps({"passes": [{}], "failures": [failure, {"err": 1}]}).encode()
    assert mocha_output(data) == "1 passing\nFAILED a.js > adds\nError: no\nFAILED \n\n"
    assert mocha_output(b"{cut") == ""
