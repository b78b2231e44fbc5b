"""Definitions are found where they are, and nothing is ever run."""

import resource
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.index.units import MAX_BYTES, enclosing, language_of, parses, units

PYTHON = """@decorate
class A(Base):
    @property
    def f(self, a: int) -> str:
        def inner(): ...
        return 1

async def k(): ...
if True:
    def nested(): pass
"""
TYPESCRIPT = """export class A<T> {
  f(a: number): void {}
}
const g = (x: number) => { return 1 };
interface I { x: number }
function z() {}
enum E { A }
"""


async def test_python() -> None:
    """Qualified names, kinds, lines with decorators, signatures on one line."""
    found = [(u.name, u.kind, u.start, u.end, u.signature) for u in await units("a.py", PYTHON)]
    assert found == [
        ("A", "class", 1, 6, "class A(Base):"),
        ("A.f", "method", 3, 6, "def f(self, a: int) -> str:"),
        ("A.f.inner", "function", 5, 5, "def inner():"),
        ("k", "function", 8, 8, "async def k():"),
        ("nested", "function", 10, 10, "def nested():"),
    ]


async def test_typescript_and_javascript() -> None:
    """Classes (interfaces and enums too), methods, functions kept in constants."""
    found = [(u.name, u.kind) for u in await units("a.ts", TYPESCRIPT)]
    assert found == [
        ("A", "class"),
        ("A.f", "method"),
        ("g", "function"),
        ("I", "class"),
        ("z", "function"),
        ("E", "class"),
    ]
    script = "module.exports = {}\nclass Q { m() {} }\nconst h = function () {}\nlet n = 1\n"
    assert [u.name for u in await units("a.js", script)] == ["Q", "Q.m", "h"]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "x = 1\n", True),
        ("a.py", "def f(:\n", False),
        ("a.py", "return 1\n", True),
        ("a.py", "def f():\nreturn 1\n", False),
        ("a.py", "print 'two'\n", False),
        ("a.py", "x = '\\d'\n", True),
        ("a.js", "function () {\n", False),
        ("a.tsx", "const a = <div>{x}</div>;\n", True),
        ("a.md", "def f(:\n", None),
        ("a.go", "func f() {\n", False),
        ("a.rs", "fn f() {}\n", True),
        ("a.java", "class A { void f( }\n", False),
        ("a.cpp", "int A::f() { return 1; }\n", True),
        ("a.rb", "def f\n", False),
        ("a.php", "<?php function f() {}\n", True),
        ("a.py", "#" * (MAX_BYTES + 1), None),
    ],
)
async def test_parses(path: str, text: str, expected: bool | None) -> None:
    """None means that nothing is known: another language, or too big."""
    assert await parses(path, text) is expected


async def test_the_innermost_unit_encloses() -> None:
    """A line of a nested function belongs to it, a line between units to none."""
    found = await units("a.py", PYTHON)
    names = [unit.name if (unit := enclosing(found, line)) else None for line in (1, 4, 5, 7)]
    assert names == ["A", "A.f", "A.f.inner", None]


@given(st.text(max_size=300))
async def test_any_text_is_read(text: str) -> None:
    """Whatever a file holds, there are lines within it and no error."""
    for path in ("a.py", "a.ts"):
        found = await units(path, text)
        assert all(1 <= u.start <= u.end <= text.count("\n") + 1 for u in found)


async def test_deep_nesting_is_walked() -> None:
    """Deeper than Python's stack, as in generated code."""
    text = "(" * 5000 + ")" * 5000
    assert await units("a.py", text) == ()
    assert language_of("A.PY") == "python"


async def test_a_text_that_bursts_its_parser_costs_this_process_nothing() -> None:
    """30 kB that took a parser gigabytes: no definitions, no verdict, and the next is read."""
    bomb = "/*\n" * 10_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert await units("a.py", bomb) == ()
    assert await parses("a.py", bomb) is False  # by the interpreter
    assert await parses("a.js", "<div>" * 20_000) is not True
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    assert [unit.name for unit in await units("a.py", "def f(): pass\n")] == ["f"]


async def test_nothing_is_executed(tmp_path: Path) -> None:
    """A module that writes a file when imported leaves no trace."""
    trace = tmp_path / "trace"
    await units("a.py", f"open({str(trace)!r}, 'w')\ndef f(): pass\n")
    assert not trace.exists()
