"""Which names a piece of Python binds, and what is known of what they get."""

import ast
from collections.abc import Iterator

from pipeline.index.languages.bindings import OPEN, OTHER
from pipeline.index.languages.python.heads import callee


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """The names of all parameters but `self` and `cls`, which mean a class."""
    plain = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    for item in (*plain, arguments.vararg, arguments.kwarg):
        if item is not None and item.arg not in {"self", "cls"}:
            yield item.arg


def given(value: ast.expr | None) -> str:
    """The callee whose result a name gets; `OPEN` for constants, which say little of a type."""
    if isinstance(value, ast.Call):
        return callee(value.func)
    return OPEN if value is None or isinstance(value, ast.Constant) else OTHER


def handed(kind: ast.expr | None) -> str:
    """The class of a caught exception; `OTHER` where there are several or none."""
    return callee(kind) if isinstance(kind, ast.Name | ast.Attribute) else OTHER


def names_in(target: ast.AST | None) -> Iterator[tuple[str, bool]]:
    """The local names and `self.x` that a target binds; whether each gets the whole value."""
    waiting: list[tuple[ast.AST | None, bool]] = [(target, True)]
    while waiting:
        node, whole = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id, whole
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                yield f"self.{node.attr}", whole
        elif isinstance(node, ast.Starred):
            waiting.append((node.value, False))
        elif isinstance(node, ast.Tuple | ast.List):
            waiting.extend((item, False) for item in node.elts)
