"""Blocks in one form: guards, branches and ternaries as the same decisions.

Where a branch leaves its block, what follows is the other branch; at the end of a function falling
off is `return None`, at the end of a loop's body it is `continue`. Of a test and its opposite the
one whose text comes first is kept. Source: choosing.md §4, level N4.
"""

import ast
from collections.abc import Sequence

from pipeline.choose.canonical.conditions import condition, negated

Block = list[ast.stmt]
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def decisions(block: Sequence[ast.stmt], falls: ast.stmt | None) -> Block:
    """A block with its branches in one form; `falls` is what falling off its end means, if known.

    The end of a block never says what falling off does anyway.
    """
    found: Block = []
    rest = [part for statement in block for part in _spread(statement)]
    for at, statement in enumerate(rest):
        if isinstance(statement, ast.If):
            last = at == len(rest) - 1
            leaves = _leaves(statement.body) or (statement.orelse and _leaves(statement.orelse))
            if last or leaves:
                return _without_end(found + _branches(statement, rest[at + 1 :], falls), falls)
            sides = decisions(statement.body, None), decisions(statement.orelse, None)
            found += _decided(statement.test, *sides)
        else:
            _inner(statement, falls if at == len(rest) - 1 else None)
            found.append(statement)
            if isinstance(statement, _LEAVING):
                break
    return _without_end(found, falls)


def _branches(node: ast.If, rest: Block, falls: ast.stmt | None) -> Block:
    """A branch of which one side gets what follows; the sides are decisions themselves."""
    body, orelse = list(node.body), list(node.orelse)
    if _leaves(body):
        orelse += rest
    elif rest:
        body += rest
    return _decided(node.test, decisions(body, falls), decisions(orelse, falls))


def _decided(test: ast.expr, body: Block, orelse: Block) -> Block:
    """`if test: body else: orelse`, nested tests put together, the lesser text of the test."""
    if _same(body, orelse):
        return [ast.Expr(test), *body] if _acts(test) else body
    if len(body) == 1 and isinstance(body[0], ast.If) and _same(body[0].orelse, orelse):
        both = ast.BoolOp(ast.And(), [test, body[0].test])
        return _decided(condition(both), body[0].body, orelse)
    if len(orelse) == 1 and isinstance(orelse[0], ast.If) and _same(orelse[0].body, body):
        either = ast.BoolOp(ast.Or(), [test, orelse[0].test])
        return _decided(condition(either), body, orelse[0].orelse)
    other = negated(test)
    if ast.dump(other) < ast.dump(test):
        test, body, orelse = other, orelse, body
    return [ast.If(test, body, orelse)]


def _inner(statement: ast.stmt, falls: ast.stmt | None) -> None:
    """The blocks in a statement, in place."""
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        statement.body = decisions(statement.body, ast.Continue())
        statement.orelse = decisions(statement.orelse, falls)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        statement.body = decisions(statement.body, None)
    elif isinstance(statement, ast.Try):
        statement.body = decisions(statement.body, None)
        statement.orelse = decisions(statement.orelse, None)
        statement.finalbody = decisions(statement.finalbody, None)
        for handler in statement.handlers:
            handler.body = decisions(handler.body, None)
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        statement.body = decisions(statement.body, ast.Return(None))
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            case.body = decisions(case.body, None)


def _spread(statement: ast.stmt) -> Block:
    """A ternary that is returned or given to a name, as a branch; `return None` as `return`."""
    value = statement.value if isinstance(statement, ast.Return | ast.Assign) else None
    if isinstance(statement, ast.Return):
        if isinstance(value, ast.Constant) and value.value is None:
            return [ast.Return(None)]
        if isinstance(value, ast.IfExp):
            return [ast.If(value.test, [ast.Return(value.body)], [ast.Return(value.orelse)])]
    elif (
        isinstance(statement, ast.Assign)
        and isinstance(value, ast.IfExp)
        and all(isinstance(target, ast.Name) for target in statement.targets)
    ):
        sides = [[ast.Assign(statement.targets, side)] for side in (value.body, value.orelse)]
        return [ast.If(value.test, *sides)]  # type: ignore[arg-type]  # two blocks
    elif isinstance(statement, ast.If):
        return [_collapsed(statement)]
    return [] if isinstance(statement, ast.Pass) else [statement]


def _collapsed(node: ast.If) -> ast.If:
    """A branch that holds nothing but another one, as one branch of both tests."""
    test, body = node.test, node.body
    while not node.orelse and len(body) == 1 and isinstance(inner := body[0], ast.If):
        if inner.orelse:
            break
        test, body = condition(ast.BoolOp(ast.And(), [test, inner.test])), inner.body
    return ast.If(test, body, node.orelse)


def _leaves(block: Sequence[ast.stmt]) -> bool:
    """Whether a block never falls off its end."""
    return any(
        _leaves(each.body) and _leaves(each.orelse)
        if isinstance(each, ast.If)
        else isinstance(each, _LEAVING)
        for each in block
    )


def _without_end(block: Block, falls: ast.stmt | None) -> Block:
    """Without a last statement that only says what falling off does."""
    while block and falls is not None and _same(block[-1:], [falls]):
        block = block[:-1]
    return block


def _same(one: Sequence[ast.stmt], other: Sequence[ast.stmt]) -> bool:
    return [ast.dump(each) for each in one] == [ast.dump(each) for each in other]


def _acts(test: ast.expr) -> bool:
    """Whether computing a test may do something."""
    quiet = (ast.Name, ast.Constant, ast.expr_context, ast.boolop, ast.Is, ast.IsNot, ast.Compare)
    return not all(isinstance(n, (*quiet, ast.BoolOp)) for n in ast.walk(test))
