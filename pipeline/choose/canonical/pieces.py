"""A unit as a bag of sub-trees: what two patches may share although they are not the same.

Source: choosing.md §9 (edit): statements, compound ones by their header, calls, comparisons,
boolean and binary operations, attributes and subscripts.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from pipeline.choose.canonical.units import Unit

_EXPRESSIONS = (
    ast.Call,
    ast.Compare,
    ast.BoolOp,
    ast.BinOp,
    ast.UnaryOp,
    ast.Attribute,
    ast.Subscript,
)
_BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_PARTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


def bag(units: tuple[Unit, ...]) -> Counter[str]:
    """Sub-trees as text with their number. Raises RecursionError when nested too deeply."""
    found: Counter[str] = Counter()
    for unit in units:
        for top in (*unit.head, *unit.body):
            for node in ast.walk(top):
                if isinstance(node, _PARTS):
                    found[_header(node)] += 1
                elif isinstance(node, _EXPRESSIONS):
                    found[ast.dump(node)] += 1
    return found


def _header(node: ast.AST) -> str:
    """A statement without the statements in it."""
    return f"{type(node).__name__}({', '.join(_fields(node))})"


def _fields(node: ast.AST) -> Iterator[str]:
    for name, value in ast.iter_fields(node):
        if name in _BLOCKS and isinstance(value, list):
            continue
        for each in value if isinstance(value, list) else [value]:
            yield ast.dump(each) if isinstance(each, ast.AST) else repr(each)
