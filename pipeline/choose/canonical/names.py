"""Local variables of a function by the order in which they appear, whatever they are called.

Parameters, globals, nonlocals, imports and definitions keep their names: others may ask for them.
Source: choosing.md §4, level N3.
"""

import ast
from collections.abc import Iterator

_SEEING = frozenset({"locals", "vars", "eval", "exec", "dir", "globals"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


def rename_locals(function: Function) -> None:
    """Give the locals of a function, and of those in it, numbers; in place.

    One name gets one number in the whole function, so what was told apart still is. A function
    that looks at its own variables by name keeps them.
    """
    nodes = list(ast.walk(function))
    if any(isinstance(node, ast.Name) and node.id in _SEEING for node in nodes):
        return
    own = {name for node in nodes for name in _stored(node)} - {
        name for node in nodes for name in _kept(node)
    }
    numbers: dict[str, str] = {}
    for node in _in_order(function):
        if isinstance(node, ast.Name) and node.id in own:
            node.id = _number(node.id, numbers)
        elif isinstance(node, ast.ExceptHandler) and node.name in own:
            node.name = _number(node.name or "", numbers)
        elif isinstance(node, ast.alias) and node.asname in own:
            node.asname = _number(node.asname or "", numbers)


def _number(name: str, numbers: dict[str, str]) -> str:
    return numbers.setdefault(name, f"·{len(numbers)}")  # no name of Python looks like this


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes as they stand in the text, more or less; a handler's name before its body."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _stored(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, ast.alias) and node.asname:
        yield node.asname


def _kept(node: ast.AST) -> Iterator[str]:
    """Names that mean something outside of the function, or are asked for by name."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.ClassDef):
        yield node.name
        for statement in node.body:  # attributes
            yield from (name for inner in ast.walk(statement) for name in _stored(inner))
    elif isinstance(node, ast.alias) and not node.asname:
        yield node.name.partition(".")[0]
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
