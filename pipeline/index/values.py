"""What the code index says: units, edges, parsed files, search hits, ranked places.

Ids: a file or directory is its path; a unit in a file is `path:Qual.Name`, a second definition of
one name `path:Qual.Name#2`; a chunk `path:@start-end`. Lines are 1-based and inclusive. Everything
is read from git objects as text: nothing of the analysed repository is imported or executed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["directory", "file", "class", "function", "chunk"]
EdgeKind = Literal["contains", "imports", "invokes", "inherits"]


@dataclass(frozen=True, slots=True)
class Definition:
    """One class or function of a file, in source order; an enclosing one comes first.

    `name` is qualified inside the file (`Class.method`, `outer.inner`). `start` includes
    decorators. `signature` is the head on one line, at most 160 characters; `doc` the first
    lines of its docstring or comment, at most 400 characters. `bases` are as written.
    """

    name: str
    kind: Literal["class", "function"]
    start: int
    end: int
    signature: str
    doc: str = ""
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name: `module` as written (relative dots kept), `name` "" for the module
    itself and "*" for all of it, `alias` the local name ("" for "*")."""

    module: str
    name: str
    alias: str
    line: int


@dataclass(frozen=True, slots=True)
class Call:
    """One call: `owner` the qualified name of the enclosing definition ("" at module level),
    `target` the callee as written (`f`, `self.x`, `module.f`; a call in it is shown as `()`)."""

    owner: str
    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that got a value: `owner` the enclosing definition, `name` a local variable or
    `self.x`, `value` the callee as in Call whose result it got, "?" for another value, "" for one
    that says nothing of its type, such as a parameter's. Kept where calls begin with the name."""

    owner: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What one blob holds, whatever path it has. Content-addressed, so it never names a path.

    `exports` are names a file re-exports (JavaScript `export … from`, Python `__all__`).
    `strings` are literals of at least 10 characters with a space. `degraded` says in words why
    a file was only cut into chunks ("" = parsed): too large, minified, generated, binary,
    time-out, syntax.
    """

    language: str
    lines: int
    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    exports: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    degraded: str = ""
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One node of the index at a commit. `parent` is the id of the containing unit ("" for the
    root); `is_test` marks test code, which searches leave out unless asked."""

    id: str
    kind: Kind
    path: str
    name: str
    start: int
    end: int
    signature: str
    doc: str
    parent: str
    is_test: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation. `confidence`: 1.0 same scope or explicit import, 0.6 a name unique in the
    repository, 0.3 ambiguous (all kept). `line` 0 where there is none; `alias` for imports."""

    source: str
    target: str
    kind: EdgeKind
    confidence: float = 1.0
    line: int = 0
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked file or unit: `id`, `score`, and `parts`, what each signal contributed."""

    id: str
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Best first. `confidence` is the softmax probability of the first file."""

    files: tuple[Scored, ...]
    functions: tuple[Scored, ...]
    confidence: float
