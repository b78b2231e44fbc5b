"""The canonical form of a unit: level N4. Source: choosing.md §4."""

import ast
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace

from pipeline.choose.canonical.expressions import Expressions
from pipeline.choose.canonical.names import Function, rename_locals
from pipeline.choose.canonical.statements import decisions
from pipeline.choose.canonical.temporaries import inline_temporaries
from pipeline.choose.canonical.units import Unit, plain

MAX_NODES = 8_000  # a function larger than this is generated: its syntax is compared as it is

Forms = tuple[str, ...]


def canonical(units: tuple[Unit, ...]) -> Forms:
    """One text for each definition of a name, the same for code that does the same as far as
    these rewrites go; the plain syntax where a unit is too large or nested too deeply."""
    return _forms(units, annotations=False)


def canonical_change(was: tuple[Unit, ...], now: tuple[Unit, ...]) -> Forms | None:
    """The form of what a unit became, None when it does what it did.

    Annotations count only where nothing else changes: they may be what an issue asks for.
    """
    after = canonical(now)
    if canonical(was) != after:
        return after
    annotated = _forms(now, annotations=True)
    return annotated if _forms(was, annotations=True) != annotated else None


def _forms(units: tuple[Unit, ...], *, annotations: bool) -> Forms:
    size = sum(1 for unit in units for top in unit.body for _ in ast.walk(top))
    if size > MAX_NODES:
        return plain(units)
    try:
        return plain(tuple(rewritten(unit, annotations=annotations) for unit in units))
    except RecursionError:
        return plain(units)


def rewritten(unit: Unit, *, annotations: bool) -> Unit:
    """The unit's own nodes in canonical form, with or without annotations in functions.

    A block may be empty, and locals have names that no text can have. Raises RecursionError.
    """
    body = deepcopy(list(unit.body))
    for function in _functions(body):
        if not annotations:
            _drop_annotations(function)
    body = [Expressions().visit(statement) for statement in body]
    for function in _outermost(body):
        inline_temporaries(function)
    body = decisions(body, None)
    for function in _outermost(body):
        rename_locals(function)
    return replace(unit, body=tuple(body))


def _functions(body: Iterable[ast.stmt]) -> list[Function]:
    return [
        node
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _outermost(body: Iterable[ast.stmt]) -> list[Function]:
    """Functions that are in no other one."""
    found: list[Function] = []
    open_nodes: list[ast.AST] = list(body)
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node)
        else:
            open_nodes += ast.iter_child_nodes(node)
    return found


def _drop_annotations(function: Function) -> None:
    function.returns = None
    args = function.args
    for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if each is not None:
            each.annotation = None
    _Unannotated().generic_visit(function)


class _Unannotated(ast.NodeTransformer):
    """`x: int = 1` as `x = 1` in functions; in classes it makes a field and stays."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """Not inside."""
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """A bare annotation is nothing."""
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value)
