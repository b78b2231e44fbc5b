"""A name that is given once and read once, in the very next statement, is what it was given.

Only where nothing that could act comes between, so that everything still happens in its order.
Source: choosing.md §4, level N4.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.choose.canonical.names import Function

_QUIET = (ast.Name, ast.Constant, ast.Attribute, ast.expr_context, ast.keyword, ast.operator)
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BLOCKS = ("body", "orelse", "finalbody")


def inline_temporaries(function: Function) -> None:
    """Put single-use temporaries where they are read; in place."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    stores = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
    loads = Counter(node.id for node in names if isinstance(node.ctx, ast.Load))
    parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    declared = {
        name
        for node in ast.walk(function)
        if isinstance(node, ast.Global | ast.Nonlocal)
        for name in node.names
    }
    once = {name for name in stores if stores[name] == 1 == loads[name]} - parameters - declared
    if once:
        _block(function, once)


def _block(node: ast.AST, once: set[str]) -> None:
    for field in _BLOCKS:
        statements = getattr(node, field, None)
        if isinstance(statements, list):
            setattr(node, field, _without(statements, once))
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            _block(child, once)


def _without(statements: Sequence[ast.stmt], once: set[str]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in statements:
        while found and (given := _given(found[-1], once)) is not None:
            name, value = given
            if not _put(statement, name, value):
                break
            found.pop()
        found.append(statement)
    return found


def _given(statement: ast.stmt, once: set[str]) -> tuple[str, ast.expr] | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name) and target.id in once:
            return target.id, statement.value
    return None


def _put(statement: ast.stmt, name: str, value: ast.expr) -> bool:
    """Put a value in place of its name where it is computed first; False where it is not."""
    field = _first(statement)
    expression = getattr(statement, field, None) if field else None
    if not isinstance(expression, ast.expr) or isinstance(value, ast.Yield | ast.Await):
        return False
    if isinstance(expression, ast.Name) and expression.id == name:
        setattr(statement, field, value)
        return True
    for node, parent in _computed(expression, None):
        if isinstance(node, ast.Name) and node.id == name:
            return parent is not None and _replace(parent, node, value)
        if not isinstance(node, _QUIET):
            return False
    return False


def _first(statement: ast.stmt) -> str:
    """The field of a statement that is computed before everything else in it."""
    if isinstance(statement, ast.Assign):
        return "value" if all(isinstance(t, ast.Name) for t in statement.targets) else ""
    if isinstance(statement, ast.Return | ast.Expr):
        return "value"
    if isinstance(statement, ast.If):
        return "test"
    if isinstance(statement, ast.For):
        return "iter"
    return "exc" if isinstance(statement, ast.Raise) else ""


def _computed(node: ast.AST, parent: ast.AST | None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """The nodes of an expression in the order in which they are computed, the sure ones only."""
    if isinstance(node, _LATER):
        yield node, parent
        return
    if isinstance(node, ast.BoolOp | ast.IfExp | ast.Dict):
        first = {ast.BoolOp: "values", ast.IfExp: "test", ast.Dict: ""}[type(node)]
        head = getattr(node, first) if first else None
        only = head[0] if isinstance(head, list) else head
        if only is not None:
            yield from _computed(only, node)
        yield node, parent
        return
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        yield from _computed(node.left, node)
        yield node, parent
        return
    for child in ast.iter_child_nodes(node):
        yield from _computed(child, node)
    yield node, parent


def _replace(parent: ast.AST, old: ast.AST, new: ast.expr) -> bool:
    for field, value in ast.iter_fields(parent):
        if value is old:
            setattr(parent, field, new)
            return True
        if isinstance(value, list) and any(each is old for each in value):
            setattr(parent, field, [new if each is old else each for each in value])
            return True
    return False
