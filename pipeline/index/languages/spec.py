"""What a language folder declares: its names, its grammar, its queries and its rules."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pipeline.index.values import Binding, Call, Definition, Import


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader saw in one text, in source order. `broken`: there are syntax errors."""

    definitions: tuple[Definition, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    exports: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    broken: bool = False
    bindings: tuple[Binding, ...] = ()


def plain_import(captured: Mapping[str, str], line: int) -> Iterable[Import]:
    """The import rule of most languages: `module`, `name` and `alias` as the query caught them."""
    module, name = captured.get("module", ""), captured.get("name", "")
    alias = "" if name == "*" else captured.get("alias") or name or module
    yield Import(module, name, alias, line)


def _never(name: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Spec:
    """One language.

    `grammar` gives a tree-sitter language capsule; `query` is the query's text, whose captures
    `languages/reader.py` explains. `wrappers` are the types of nodes around a definition that
    belong to it (`export`, decorators), `attributes` those of siblings before it. `rename` tidies
    a definition's name, `imports` turns one match into imports. `is_test` tells test files by
    name. `own` reads a text without tree-sitter, None when it cannot; `compiles` judges
    syntax in place of the grammar, which is lenient. `undefined` finds names in the text of a path
    that nothing defines.
    """

    name: str
    suffixes: tuple[str, ...]
    grammar: Callable[[], object]
    query: str
    wrappers: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    rename: Callable[[str], str] = str
    imports: Callable[[Mapping[str, str], int], Iterable[Import]] = plain_import
    is_test: Callable[[str], bool] = _never
    own: Callable[[str], Found | None] | None = None
    compiles: Callable[[str], bool] | None = None
    undefined: Callable[[str, str], frozenset[str]] | None = None
