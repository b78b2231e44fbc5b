"""Each language is read as its programmers write it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pipeline.index.languages import is_test, language_of, specs
from pipeline.index.parse import parse
from pipeline.index.values import Definition, ParsedFile

PYTHON = '''import os.path, numpy as np
from ..a import b as c
from .d import *
__all__ = ["A", "k"]
@dec
class A(Base, m.B[int]):
    """About A."""
    @property
    def f(self, a: int = g(),  # why
          b=3) -> str:
        def inner(): ...
        self.x.y(a)[0]()
        raise ValueError(f"cannot open {a!r} of this file")
'''
JAVASCRIPT = """import D, {b as c, e} from './m'
import * as ns from "n";
const q = require('q');
const {z, y: w} = require('../w');
/** Makes a thing. */
export default class Q extends ns.Base {
  m(a) { return this.x?.y(a).then(() => g(`cannot use ${a} for this thing`)) }
}
// About h.
const h = function () { new Foo() }
const o = { p() {}, r: () => s() }
export { h as i };
export * from './all'
Foo.prototype.bar = function (x) {}
exports.t = async () => <Comp a={v()}/>
"""
TYPESCRIPT = """@Injectable()
export class A<T> extends B<T> implements C, D.E {
  @Log()
  f(a: number): void {}
  private g = (x: number) => foo<T>(x)!.bar()
}
interface I extends J { x: number }
export type T = { a: string }
namespace N { export function inner() {} }
"""
GO = """package main
import ("fmt"; m "github.com/x/y/v2"; . "z")
// Server serves.
type Server struct { http.Handler; name string }
type I interface { Do(x int) error }
func (s *Server[T]) Serve() error { s.x.y(); return fmt.Errorf("cannot open %s of the file", 1) }
func main() { foo(Server{}) }
"""
RUST = """use std::{fmt, io::{self, Read as R}, x::*};
mod sub;
/// About Foo.
#[derive(Debug)]
pub struct Foo<T> { a: T }
impl<T> fmt::Display for Foo<T> {
    fn fmt(&self) -> R { write!(f, "hello there {}", 1); Foo::<T>::new(2).bar()?; }
}
trait Q: Base { fn sig(&self); }
"""
JAVA = """package x;
import java.util.*;
import a.B;
/** About A. */
public class A<T> extends B<T> implements C, x.D {
  @Override public void m(int a) { this.x.foo(1).bar(); new Foo<String>(a); }
  enum E implements Z { Q; void z() {} }
}
"""
C = """#include <stdio.h>
#include "x/y.h"
/* foo does
 * more */
static int *foo(int a) { s->x.f(1); printf("the value is %d of it all", 1); }
typedef struct { int b; } T;
#define M(x) foo(x)
int prototype(void);
"""
CPP = """namespace a::b {
/// About Foo.
class Foo : public Bar<int>, x::Z { int m() const; ~Foo() {} };
int Foo::m() const { return this->x->y(); }
template<class T>
T g(T a) { new Foo(2); }
}
"""
RUBY = """require_relative "a/b"
require 'json'
module A::B
  # About C.
  class C < D::E
    include F
    def self.m(a) = a
    def go?(x); foo.bar(x).q; "goes in #{x} here it is"; end
  end
end
"""
PHP = """<?php
use A\\B as C; use G\\{H, I as J}; require_once 'x.php';
/** About Foo. */
abstract class Foo extends Bar implements Baz { use T;
  public function m() { $this->x->y(1); self::z(); new C(); return A\\b()?->c(); } }
function f() {}
"""

SAMPLES = {
    "a.py": (
        PYTHON,
        ["A", "A.f", "A.f.inner"],
        ["os.path||os.path", "numpy||np", "..a|b|c", ".d|*|"],
        ["dec", "property", "g", "self.x.y", "self.x.y()[]", "ValueError"],
    ),
    "a.js": (
        JAVASCRIPT,
        ["Q", "Q.m", "h", "o.p", "o.r", "Foo.bar", "t"],
        [
            *("./m|default|D", "./m|b|c", "./m|e|e", "n||ns", "q||q", "../w|z|z", "../w|y|w"),
            *("|Q|default", "|h|i", "./all|*|"),
        ],
        ["require", "require", "this.x.y().then", "this.x.y", "g", "Foo", "s", "Comp", "v"],
    ),
    "a.ts": (
        TYPESCRIPT,
        ["A", "A.f", "A.g", "I", "T", "N.inner"],
        [],
        ["Injectable", "Log", "foo().bar", "foo"],
    ),
    "a.go": (
        GO,
        ["Server", "I", "I.Do", "Server.Serve", "main"],
        ["fmt||fmt", "github.com/x/y/v2||m", "z|*|"],
        ["s.x.y", "fmt.Errorf", "foo", "Server"],
    ),
    "a.rs": (
        RUST,
        ["Foo", "Foo.fmt", "Q", "Q.sig"],
        ["std|fmt|fmt", "std.io||io", "std.io|Read|R", "std.x|*|", "self.sub||sub"],
        ["write", "Foo.new().bar", "Foo.new"],
    ),
    "A.java": (
        JAVA,
        ["A", "A.m", "A.E", "A.E.z"],
        ["java.util|*|", "a|B|B"],
        ["this.x.foo().bar", "this.x.foo", "Foo"],
    ),
    "a.c": (C, ["foo", "T", "M"], ["stdio.h|*|", "x/y.h|*|"], ["s.x.f", "printf"]),
    "a.cc": (
        CPP,
        ["a.b.Foo", "a.b.Foo.~Foo", "a.b.Foo.m", "a.b.g"],
        [],
        ["this.x.y", "Foo"],
    ),
    "a.rb": (
        RUBY,
        ["A.B", "A.B.C", "A.B.C.m", "A.B.C.go?"],
        ["./a/b|*|", "json|*|"],
        ["require_relative", "require", "include", "foo.bar().q", "foo.bar"],
    ),
    "a.php": (
        PHP,
        ["Foo", "Foo.m", "f"],
        ["A|B|C", "G|H|H", "G|I|J", "x.php|*|"],
        ["this.x.y", "self.z", "C", "A.b().c", "A.b"],
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_names_imports_and_calls(path: str) -> None:
    """Definitions have qualified names, imports their aliases, calls one way of writing."""
    text, definitions, imports, calls = SAMPLES[path]
    found = parse(path, text.encode())
    assert [d.name for d in found.definitions] == definitions
    assert [f"{i.module}|{i.name}|{i.alias}" for i in found.imports] == imports
    assert sorted(c.target for c in found.calls) == sorted(calls)
    assert found.degraded == ""


@pytest.mark.parametrize(
    ("path", "name", "bases", "doc"),
    [
        ("a.py", "A", ("Base", "m.B[]"), "About A."),
        ("a.js", "Q", ("ns.Base",), "Makes a thing."),
        ("a.js", "h", (), "About h."),
        ("a.ts", "A", ("B", "C", "D.E"), ""),
        ("a.go", "Server", ("http.Handler",), "Server serves."),
        ("a.rs", "Foo", ("fmt.Display",), "About Foo."),
        ("A.java", "A", ("B", "C", "x.D"), "About A."),
        ("a.c", "foo", (), "foo does\nmore"),
        ("a.cc", "a.b.Foo", ("Bar", "x.Z"), "About Foo."),
        ("a.rb", "A.B.C", ("D.E", "F"), "About C."),
        ("a.php", "Foo", ("Bar", "Baz", "T"), "About Foo."),
    ],
)
def test_bases_and_documentation(path: str, name: str, bases: tuple[str, ...], doc: str) -> None:
    """Bases stand as written without type arguments; the comment or docstring comes along."""
    found = _named(parse(path, SAMPLES[path][0].encode()), name)
    assert (found.bases, found.doc) == (bases, doc)


@pytest.mark.parametrize(
    ("path", "name", "span", "signature"),
    [
        ("a.py", "A", (5, 13), "class A(Base, m.B[int]):"),
        ("a.py", "A.f", (8, 13), "def f(self, a: int = g(), b=3) -> str:"),
        ("a.js", "Q", (6, 8), "class Q extends ns.Base"),
        ("a.ts", "A.f", (3, 4), "f(a: number): void"),
        ("a.rs", "Foo", (4, 5), "pub struct Foo<T>"),
        ("a.cc", "a.b.g", (5, 6), "T g(T a)"),
        ("a.go", "Server.Serve", (6, 6), "func (s *Server[T]) Serve() error"),
    ],
)
def test_spans_and_heads(path: str, name: str, span: tuple[int, int], signature: str) -> None:
    """Decorators, attributes and template heads belong to what they stand before."""
    found = _named(parse(path, SAMPLES[path][0].encode()), name)
    assert ((found.start, found.end), found.signature) == (span, signature)


@pytest.mark.parametrize(
    ("path", "strings"),
    [
        ("a.py", ("cannot open", "of this file")),
        ("a.js", ("cannot use", "for this thing")),
        ("a.go", ("cannot open", "of the file")),
        ("a.rs", ("hello there",)),
        ("a.c", ("the value is",)),
        ("a.rb", ("here it is",)),
    ],
)
def test_strings_are_cut_at_placeholders(path: str, strings: Sequence[str]) -> None:
    """What stays can be found in a message: ten characters, a space, nothing filled in."""
    assert set(strings) <= set(parse(path, SAMPLES[path][0].encode()).strings)


def test_calls_belong_to_the_innermost_definition() -> None:
    """A default argument is evaluated where the function stands, its body inside it."""
    calls = parse("a.py", PYTHON.encode()).calls
    owners = {call.target: call.owner for call in calls}
    assert (owners["g"], owners["ValueError"], owners["dec"]) == ("A", "A.f", "")
    calls = parse("a.js", JAVASCRIPT.encode()).calls
    assert {(c.owner, c.target) for c in calls} >= {("Q.m", "g"), ("h", "Foo"), ("o.r", "s")}


EVERYWHERE = """class A:
    x = a()
    @b(1)
    def f(self, y=c()):
        with d() as e, f(): g[h()]
        match i():
            case j(k=1) | [l, *_] if m(): n(**{o(): p()})
        try: q()
        except r() as s: return t(u := v()) if w() else (lambda z=x1(): x2())
        return {x3() for _ in x4() if x5()}, await_(f"{x6()!r:>{x7()}}"), -x8(), x9() < y1() < y2()
    y3()
y4()
"""


def test_python_calls_are_seen_wherever_they_stand() -> None:
    """Patterns, formats, comprehensions, defaults: each call once, owned by who evaluates it."""
    calls = parse("a.py", EVERYWHERE.encode()).calls
    owners = {call.target: call.owner for call in calls}
    assert len(calls) == len(owners) == 30
    assert [name for name, owner in owners.items() if owner == "A"] == ["a", "b", "c", "y3"]
    assert [name for name, owner in owners.items() if owner == ""] == ["y4"]


def test_exports() -> None:
    """`__all__`, ES exports and CommonJS properties."""
    assert parse("a.py", PYTHON.encode()).exports == ("A", "k")
    assert set(parse("a.js", JAVASCRIPT.encode()).exports) == {"Q", "i", "t"}
    listed = parse("a.js", b"module.exports = { f, g: h, k() {} }\n")
    assert listed.exports == ("f", "g", "k")
    assert [(i.module, i.name, i.alias) for i in listed.imports] == [("", "h", "g")]


def test_python_of_other_days() -> None:
    """What this interpreter refuses is read all the same: Python 2 and unfinished files."""
    old = (
        b"import a.b as c\nclass A(B, m.C):\n    'Doc.'\n    def f(self):\n        print self.x()\n"
    )
    found = parse("a.py", old)
    assert [(d.name, d.start, d.end, d.bases) for d in found.definitions] == [
        ("A", 2, 5, ("B", "m.C")),
        ("A.f", 4, 5, ()),
    ]
    assert [(c.owner, c.target) for c in found.calls] == [("A.f", "self.x")]
    assert parse("a.py", b"def good():\n    pass\n\ndef bad(:\n").definitions[0].name == "good"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/x.py", True),
        ("pkg/tests/data/x.json", True),
        ("pkg/test_a.py", True),
        ("pkg/conftest.py", True),
        ("django/test/client.py", False),
        ("test/runner.py", True),
        ("sympy/testing/runtests.py", False),
        ("src/contest.py", False),
        ("src/a.test.tsx", True),
        ("src/__tests__/a.js", True),
        ("lib/latest.js", False),
        ("a/b_test.go", True),
        ("src/test/java/a/Helper.java", True),
        ("src/main/java/a/Attest.java", False),
        ("src/main/java/a/FooTest.java", True),
        ("lib/a_spec.rb", True),
        ("src/FooTest.php", True),
        ("src/test_x.c", True),
    ],
)
def test_what_is_test_code(path: str, expected: bool) -> None:
    """By folder and by name; a package called `test` that users import is none."""
    assert is_test(path) is expected


def test_a_language_is_a_folder() -> None:
    """Every folder gives languages with suffixes of their own, each with a sample here."""
    suffixes = [suffix for spec in specs() for suffix in spec.suffixes]
    assert len(suffixes) == len(set(suffixes))
    sampled = {language_of(path) for path in SAMPLES} | {"tsx"}
    assert {spec.name for spec in specs()} == sampled


def test_the_queries_are_beside_the_code() -> None:
    """A wheel takes whole packages, so a query is shipped when it lies in its package."""
    root = Path(__file__).parents[4] / "pipeline/index/languages"
    folders = [folder for folder in root.iterdir() if (folder / "__init__.py").exists()]
    assert all(list(folder.glob("*.scm")) for folder in folders)


def _named(found: ParsedFile, name: str) -> Definition:
    return next(d for d in found.definitions if d.name == name)
