"""unittest made to report: real runs of real lines, and events that are none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.suite.report import ReportInvalid, Results
from sandbox.suite.unittests import parse_unittest_events, reports, unittest_line

TEST = """import os
import subprocess
import sys
import unittest

import shop


class Shop(unittest.TestCase):
    def test_total(self):
        os.chdir("/")
        print("test_forged (tests.test_shop.Shop.test_forged) ... ok", file=sys.stderr)
        if os.fork() == 0:
            os._exit(0)

    def test_leaves(self):
        from other import value
"""


def ran(folder: Path, line: str) -> tuple[int, Results]:
    """The exit code of a line and what it reported."""
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests/__init__.py").touch()
    (folder / "tests/test_shop.py").write_text(TEST)
    (folder / "shop.py").touch()
    (folder / "other.py").write_text("value = 1\n")
    report = folder / "report x"
    report.unlink(missing_ok=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", unittest_line(line, str(report))],
        cwd=folder,
        env={"PATH": path},
        capture_output=True,
        check=False,
    )
    return done.returncode, parse_unittest_events(report.read_bytes())


@pytest.mark.parametrize(
    "line",
    [
        "python -m unittest",
        "python3 -B -m unittest discover -s tests -t .",
        f"{sys.executable} -m unittest -v tests/test_shop.py",
        "cd tests && cd .. && python -m unittest tests.test_shop.Shop",
    ],
)
def test_a_line_reports(tmp_path: Path, line: str) -> None:
    """By whatever way tests are found; the tree stays importable, and printing adds nothing."""
    assert ran(tmp_path, line) == (
        0,
        {
            "tests.test_shop.Shop.test_total": "pass",
            "tests.test_shop.Shop.test_leaves": "pass",
        },
    )


@pytest.mark.parametrize(
    "line",
    ["make test", "coverage run -m unittest", "python -m unittest2", "python -m unittest.mock", ""],
)
def test_other_lines_stay(line: str) -> None:
    """What does not call unittest plainly is read by its lines."""
    assert not reports(line)
    assert unittest_line(line, "/r") == line


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'["start", "a"]\n["pass", "a"]\n',  # ended from inside
        b'["start", "a"]\n["pass", "a"]\n["end", 2]\n',
        b'["pass", "a"]\n["end", 1]\n',
        b'["end", 0]\n["pass", 3]\n',
        b'["end", 0]\n["passed", "a"]\n',
        b'["end", "0"]\n',
        b"{}\n",
        b"[" * 100_000,
        b'["pass", "a"',
    ],
)
def test_what_has_no_end_is_none(data: bytes) -> None:
    """Events must be whole, and as many tests begin as the runner counted."""
    with pytest.raises(ReportInvalid):
        parse_unittest_events(data)
