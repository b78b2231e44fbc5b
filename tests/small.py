"""A tiny repository with a bug in two halves, and the twelve scripted candidates for it.

Its suite runs by unittest, so that no package has to be installed.
"""

import difflib
from pathlib import Path

from emulator.model.builder import build_script
from emulator.model.script import Script
from emulator.model.scripted import ScriptedCandidate, ScriptedRun
from pipeline.values import Change, Location

BASE = '"""Arithmetic."""\n\n\ndef double(x):\n    return x\n\n\ndef half(x):\n    return x\n'
FIXED = BASE.replace(
    "def double(x):\n    return x\n", "def double(x):\n    return x * 2\n"
).replace("def half(x):\n    return x\n", "def half(x):\n    return x / 2\n")
DOUBLE_ONLY = BASE.replace("def double(x):\n    return x\n", "def double(x):\n    return x * 2\n")
BREAKS_ZERO = FIXED.replace("return x * 2", "return x * 2 or None")
OTHER_FIX = FIXED.replace("return x * 2", "return x + x")

SUITE = """import unittest

from calc import double, half


class Zero(unittest.TestCase):
    def test_double_of_zero_is_zero(self):
        self.assertEqual(double(0), 0)

    def test_half_of_zero_is_zero(self):
        self.assertEqual(half(0), 0)
"""
REPRODUCTION = """import unittest

from calc import double, half


class {name}(unittest.TestCase):
    def test_{function}(self):
        self.assertEqual({function}({given}), {wanted})
"""
FILES = {
    "calc.py": BASE,
    "test_calc.py": SUITE,
    "README.md": "# calc\n",
    ".github/prism.yml": "env:\n  setup: []\n  test: python3 -m unittest -v\n",
}
TITLE = "double and half return their input"
BODY = "`double(2)` should be 4 and `half(4)` should be 2; both return what they are given."

NAMES = ("G1", "G2", "G3", "L1.1", "L1.2", "L2.1", "L2.2", "L3.1", "L3.2", "S1", "S2", "S3")
AFTER = {
    "G1": DOUBLE_ONLY,
    "G2": BREAKS_ZERO,
    "G3": OTHER_FIX,
    "L1.1": DOUBLE_ONLY,
    "L1.2": FIXED,
    "L2.1": BREAKS_ZERO,
    "L3.1": OTHER_FIX,
}


def patch(after: str, path: str = "calc.py", before: str = BASE) -> str:
    """A unified diff of one file."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return f"diff --git a/{path} b/{path}\n" + "".join(lines)


def candidate(name: str, **changes: object) -> ScriptedCandidate:
    """One candidate; both halves are fixed unless AFTER says otherwise."""
    function, given, wanted = ("double", 2, 4) if name in {"G1", "S1"} else ("half", 4, 2)
    reproduction = REPRODUCTION.format(
        name=function.title(), function=function, given=given, wanted=wanted
    )
    fields: dict[str, object] = {
        "id": name,
        "summary": f"Calculate instead of returning the input ({name})",
        "root_cause": f"The operators are missing in the view of {name}.",
        "expected_behaviour": f"double doubles and half halves, as {name} reads it.",
        "strategy": f"{name} writes the operator {name} prefers into each function.",
        "context": (Location("calc.py", "double", 4, 5, "returns its input"),),
        "changes": (Change("calc.py", "Write the operator.", "double", "as asked", ("G1",)),),
        "patch": patch(AFTER.get(name, FIXED)),
        "reproduction": (f"test_issue_{function}.py", reproduction),
        **changes,
    }
    return ScriptedCandidate(**fields)  # type: ignore[arg-type] # checked when it is played


def script(**changes: dict[str, object]) -> Script:
    """The whole run; `changes` maps a candidate's id ("." as "_") to fields to replace."""
    named = {name.replace("_", "."): fields for name, fields in changes.items()}
    candidates = tuple(candidate(name, **named.get(name, {})) for name in NAMES)
    return build_script(ScriptedRun(candidates, {"calc.py": BASE}))


def write_files(folder: Path) -> Path:
    """The repository's files below a folder."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
