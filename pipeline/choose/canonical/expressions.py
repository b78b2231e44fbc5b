"""Expressions in one form, from the inside out. Source: choosing.md §4, level N4."""

import ast

from pipeline.choose.canonical.conditions import (
    comparison,
    condition,
    instance_call,
    is_truth,
    negated,
)
from pipeline.choose.canonical.text import folded, formatted, joined_string, percent


class Expressions(ast.NodeTransformer):
    """Rewrites every expression of a tree; tests become conditions."""

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Comparisons in one direction."""
        self.generic_visit(node)
        return comparison(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """As a condition where only truth can come out."""
        self.generic_visit(node)
        return condition(node) if is_truth(node) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not` is pushed inside; a negative number is a number."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return condition(node)
        value = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and type(value) in (int, float):
            return ast.Constant(-value)  # type: ignore[operator]  # a number
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Literals are added up, `%` of a text is an f-string."""
        self.generic_visit(node)
        return percent(node) if isinstance(node.op, ast.Mod) else folded(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """f-strings without what says nothing."""
        self.generic_visit(node)
        return joined_string(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`str.format` is an f-string, `dict()` is `{}`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute):
            return formatted(node)
        return _display(instance_call(node))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """A ternary by the lesser text of its test and the opposite."""
        self.generic_visit(node)
        test, body, orelse = condition(node.test), node.body, node.orelse
        other = negated(test)
        if ast.dump(other) < ast.dump(test):
            test, body, orelse = other, orelse, body
        return ast.IfExp(test, body, orelse)

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        """Filters are conditions."""
        self.generic_visit(node)
        node.ifs = [condition(test) for test in node.ifs]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        """The test of a branch."""
        self.generic_visit(node)
        node.test = condition(node.test)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        """The test of a loop."""
        self.generic_visit(node)
        node.test = condition(node.test)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """The test of an assertion."""
        self.generic_visit(node)
        node.test = condition(node.test)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """`x = x + 1` is `x += 1`, for numbers and texts: a list would be another one."""
        self.generic_visit(node)
        value = node.value
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name | ast.Attribute)
            and isinstance(value, ast.BinOp)
            and isinstance(value.right, ast.Constant)
            and _same_place(value.left, node.targets[0])
        ):
            return ast.AugAssign(node.targets[0], value.op, value.right)
        return node


def _same_place(one: ast.expr, other: ast.expr) -> bool:
    """Whether what is read is what is written."""
    if isinstance(one, ast.Name) and isinstance(other, ast.Name):
        return one.id == other.id
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
        return one.attr == other.attr and ast.dump(one.value) == ast.dump(other.value)
    return False


def _display(node: ast.Call) -> ast.expr:
    """`dict()`, `list()` and `tuple()` as displays."""
    if not isinstance(node.func, ast.Name) or node.args:
        return node
    name = node.func.id
    if name == "dict" and all(each.arg for each in node.keywords):
        keys: list[ast.expr | None] = [ast.Constant(each.arg) for each in node.keywords]
        return ast.Dict(keys, [each.value for each in node.keywords])
    if name == "list" and not node.keywords:
        return ast.List([], ast.Load())
    if name == "tuple" and not node.keywords:
        return ast.Tuple([], ast.Load())
    return node
