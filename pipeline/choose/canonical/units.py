"""A Python file cut into units: functions, methods, class bodies and what else a module holds.

Paths and names of units are part of what a patch is compared by; where in its file a definition
stands is not.
"""

import ast
import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache

Head = tuple[ast.expr | ast.keyword, ...]
MAX_CHARS = 1_000_000  # what the index reads of a file, too


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit. `name` is `Class.method`, `Class`, "" for the module's body.

    `head` holds a class's decorators, bases and keywords. `body` is the function itself, or the
    other statements of the class or module. `source` is their text.
    """

    name: str
    kind: str
    head: Head
    body: tuple[ast.stmt, ...]
    source: str


Units = dict[str, tuple[Unit, ...]]


Change = tuple[str, tuple[Unit, ...], tuple[Unit, ...]]


@lru_cache(maxsize=16)
def changed(path: str, before: str, after: str) -> tuple[Change, ...] | None:
    """Units that differ in more than comments and layout: name, before, after; by name.

    The nodes are without docstrings and `pass`, copies that nobody changes. None when one of the
    texts is not Python, huge, or nested too deeply.
    """
    old, new = read_units(path, before), read_units(path, after)
    if old is None or new is None:
        return None
    found = []
    try:
        for name in sorted({*old, *new}):
            was, now = old.get(name, ()), new.get(name, ())
            if [unit.source for unit in was] != [unit.source for unit in now]:
                was, now = tuple(map(_tidied, was)), tuple(map(_tidied, now))
                if plain(was) != plain(now):
                    found.append((name, was, now))
    except (RecursionError, MemoryError):
        return None
    return tuple(found)


@lru_cache(maxsize=8)
def read_units(path: str, text: str) -> Units | None:
    """Units by name, None when the file is not Python of this interpreter's grammar, or huge.

    Definitions of one name (overloads, property setters) are kept together in their order.
    """
    if not path.endswith((".py", ".pyi")) or len(text) > MAX_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.encode("utf-8", "surrogateescape"))
        found: dict[str, list[Unit]] = {}
        for unit in _Reader(text).units(tree.body, "", "Module", ()):
            found.setdefault(unit.name, []).append(unit)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return {name: tuple(units) for name, units in found.items()}


def plain(units: tuple[Unit, ...]) -> tuple[str, ...]:
    """Abstract syntax as text, one for each definition of the name: level N2.

    Raises RecursionError for syntax that is nested too deeply.
    """
    return tuple(
        "\n".join((unit.kind, *map(ast.dump, unit.head), *map(ast.dump, unit.body)))
        for unit in units
    )


def _tidied(unit: Unit) -> Unit:
    """The unit without docstrings and `pass`, its nodes copied."""
    head, body = deepcopy(unit.head), deepcopy(unit.body)
    for top in (*head, *body):
        for node in ast.walk(top):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                node.body = without_docstring(node.body)
            elif isinstance(node, ast.Constant):
                node.kind = None  # u"" is ""
    return replace(unit, head=head, body=body)


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements without a leading string."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:] if isinstance(first.value.value, str) else body
    return body


class _Reader:
    def __init__(self, text: str) -> None:
        # ends of lines as the parser counts them
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def units(self, body: list[ast.stmt], scope: str, kind: str, head: Head) -> Iterator[Unit]:
        """The definitions right in `body`, and what else is in it as one unit named `scope`."""
        rest = []
        for statement in without_docstring(body):
            if isinstance(statement, ast.ClassDef):
                name = f"{scope}.{statement.name}" if scope else statement.name
                heading: Head = (*statement.decorator_list, *statement.bases, *statement.keywords)
                yield from self.units(statement.body, name, "Class", heading)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{scope}.{statement.name}" if scope else statement.name
                source = self.source((*statement.decorator_list, statement))
                yield Unit(name, "", (), (statement,), source)
            elif not isinstance(statement, ast.Pass):
                rest.append(statement)
        if rest or scope:
            yield Unit(scope, kind, head, tuple(rest), self.source((*head, *rest)))

    def source(self, nodes: tuple[ast.expr | ast.keyword | ast.stmt, ...]) -> str:
        """Whole lines, so that two statements on one are never missed."""
        spans = ((node.lineno - 1, node.end_lineno or node.lineno) for node in nodes)
        return "\n".join("\n".join(self.lines[start:end]) for start, end in spans)
