"""Conditions in one form: negation inside, operands that cannot raise in one order.

Every rewrite keeps what the code does, short cuts included; two are conventions: `== None` is
`is None`, and comparing does what its operators promise. Source: choosing.md §4, level N4.
"""

import ast

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Is: ast.Is,
    ast.IsNot: ast.IsNot,
}
_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def comparison(node: ast.Compare) -> ast.Compare:
    """`a > b` as `b < a`, the operands of `==` in one order, `== None` as `is None`."""
    if len(node.ops) > 1:
        return node
    left, right, kind = node.left, node.comparators[0], type(node.ops[0])
    if kind in (ast.Eq, ast.NotEq) and (_is_none(left) or _is_none(right)):
        kind = ast.Is if kind is ast.Eq else ast.IsNot
    if kind in _FLIPPED and not (_has_effects(left) and _has_effects(right)):
        flips = kind in (ast.Gt, ast.GtE) or _place(right) < _place(left)
        if flips:
            left, right, kind = right, left, _FLIPPED[kind]
    return ast.Compare(left, [kind()], [right])


def negated(test: ast.expr) -> ast.expr:
    """The opposite of a condition, `not` pushed inside as far as it means the same.

    Not inside `<`: the opposite of `a < b` need not be `a >= b`.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return condition(test.operand)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _NEGATED:
        return ast.Compare(test.left, [_NEGATED[type(test.ops[0])]()], test.comparators)
    if isinstance(test, ast.BoolOp):
        other = ast.Or() if isinstance(test.op, ast.And) else ast.And()
        return condition(ast.BoolOp(other, [negated(value) for value in test.values]))
    if isinstance(test, ast.Constant):
        return ast.Constant(not test.value)
    return ast.UnaryOp(ast.Not(), test)


def condition(test: ast.expr) -> ast.expr:
    """A test of which only the truth counts, its inner parts rewritten already."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return negated(condition(test.operand))
    if not isinstance(test, ast.BoolOp):
        return test
    values: list[ast.expr] = []
    for value in map(condition, test.values):
        same = isinstance(value, ast.BoolOp) and type(value.op) is type(test.op)
        values += value.values if same and isinstance(value, ast.BoolOp) else [value]
    values = _sorted(_merged(values, test.op))
    return values[0] if len(values) == 1 else ast.BoolOp(test.op, values)


def is_truth(node: ast.expr) -> bool:
    """Whether a value is True or False, so that it may be rewritten as a condition."""
    if isinstance(node, ast.BoolOp):
        return all(map(is_truth, node.values))
    if isinstance(node, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or _is_instance_call(node) is not None


def _sorted(values: list[ast.expr]) -> list[ast.expr]:
    """Neighbours that cannot raise in one order, each once; others stay where they are."""
    found: list[ast.expr] = []
    run: dict[str, ast.expr] = {}
    for value in values:
        if _cannot_raise(value):
            run.setdefault(ast.dump(value), value)
            continue
        found += [run[key] for key in sorted(run)]
        run = {}
        found.append(value)
    return found + [run[key] for key in sorted(run)]


def _cannot_raise(node: ast.expr) -> bool:
    """Names are taken to be bound: a patch that swaps `a and b` is not about one that is not."""
    if isinstance(node, ast.Name | ast.Constant):
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and _cannot_raise(node.operand)
    if isinstance(node, ast.Compare):
        quiet = all(isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for op in node.ops)
        return quiet and all(map(_cannot_raise, (node.left, *node.comparators)))
    asked = _is_instance_call(node)
    return asked is not None and isinstance(asked[0], ast.Name)


def _merged(values: list[ast.expr], op: ast.boolop) -> list[ast.expr]:
    """Neighbouring `isinstance` of one subject as one call: under `or`, negated under `and`."""
    found: list[ast.expr] = []
    for value in values:
        one = _asked(found[-1], op) if found else None
        two = _asked(value, op)
        if one is None or two is None or ast.dump(one[0]) != ast.dump(two[0]):
            found.append(value)
            continue
        kinds = {ast.dump(kind): kind for kind in (*one[1], *two[1])}
        call = _instance_call(one[0], [kinds[key] for key in sorted(kinds)])
        found[-1] = call if isinstance(op, ast.Or) else ast.UnaryOp(ast.Not(), call)
    return found


def _asked(value: ast.expr, op: ast.boolop) -> tuple[ast.expr, list[ast.expr]] | None:
    if isinstance(op, ast.And):
        if not (isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)):
            return None
        value = value.operand
    return _is_instance_call(value)


def instance_call(node: ast.Call) -> ast.Call:
    """`isinstance` with its classes in one order; a tuple of one is that one."""
    asked = _is_instance_call(node)
    if asked is None or not all(isinstance(k, ast.Name | ast.Attribute) for k in asked[1]):
        return node
    kinds = {ast.dump(kind): kind for kind in asked[1]}
    return _instance_call(asked[0], [kinds[key] for key in sorted(kinds)])


def _instance_call(subject: ast.expr, kinds: list[ast.expr]) -> ast.Call:
    asked = kinds[0] if len(kinds) == 1 else ast.Tuple(kinds, ast.Load())
    return ast.Call(ast.Name("isinstance", ast.Load()), [subject, asked], [])


def _is_instance_call(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """Subject and classes of an `isinstance` of a name or an attribute, else None."""
    if not (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and len(node.args) == 2
        and not node.keywords
        and isinstance(node.args[0], ast.Name | ast.Attribute)
    ):
        return None
    kinds = node.args[1]
    several = isinstance(kinds, ast.Tuple) and kinds.elts
    return node.args[0], list(kinds.elts) if several and isinstance(kinds, ast.Tuple) else [kinds]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _has_effects(node: ast.expr) -> bool:
    return any(isinstance(inner, _EFFECTS) for inner in ast.walk(node))


def _place(node: ast.expr) -> tuple[bool, str]:
    """Constants come last, as people write them."""
    return isinstance(node, ast.Constant), ast.dump(node)
