"""Texts put together in one form: `%`, `str.format`, `+` of literals and f-strings.

Only where nothing but plain insertion happens: any width, number format or lookup stays as it is.
Source: choosing.md §4, level N4.
"""

import ast
import re
from string import Formatter

_PERCENT = re.compile(r"%(.)", re.DOTALL)
_CONVERSIONS = {"s": -1, "r": ord("r"), "a": ord("a")}
_MAX = 10_000

Piece = str | tuple[ast.expr, int]


def percent(node: ast.BinOp) -> ast.expr:
    """`"a %s" % (x,)` as an f-string; a lone value may be a tuple and stays as it is."""
    if not (isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Tuple)):
        return node
    text = _literal(node.left)
    values = node.right.elts
    if text is None or any(isinstance(value, ast.Starred) for value in values):
        return node
    pieces: list[Piece] = []
    at = used = 0
    for found in _PERCENT.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
        if found[1] == "%":
            pieces.append("%")
        elif found[1] in _CONVERSIONS and used < len(values):
            pieces.append((values[used], _CONVERSIONS[found[1]]))
            used += 1
        else:
            return node
    return joined([*pieces, text[at:]]) if used == len(values) else node


def formatted(node: ast.Call) -> ast.expr:
    """`"a {}".format(x)` as an f-string."""
    called = node.func
    is_format = isinstance(called, ast.Attribute) and called.attr == "format"
    text = _literal(called.value) if is_format and isinstance(called, ast.Attribute) else None
    if text is None or any(isinstance(value, ast.Starred) for value in node.args):
        return node
    named = {each.arg: each.value for each in node.keywords}
    if None in named:
        return node
    pieces: list[Piece] = []
    used: set[str] = set()
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        return node
    for before, name, spec, conversion in _numbered(fields):
        pieces.append(before)
        if name is None:
            continue
        value = _argument(name, node.args, named)
        # in another order the arguments would be computed in another order
        if value is None or spec or (name.isdigit() and int(name) != len(used)) or name in used:
            return node
        used.add(name)
        pieces.append((value, _CONVERSIONS.get(conversion or "s", -1)))
    return joined(pieces) if len(used) == len(node.args) + len(named) else node


Field = tuple[str, str | None, str | None, str | None]


def _numbered(fields: list[Field]) -> list[Field]:
    """The fields with `{}` counted."""
    found: list[Field] = []
    count = 0
    for before, name, spec, conversion in fields:
        found.append((before, str(count) if name == "" else name, spec, conversion))
        count += name == ""
    return found


def _argument(
    name: str, args: list[ast.expr], named: dict[str | None, ast.expr]
) -> ast.expr | None:
    if name.isdecimal():
        return args[int(name)] if int(name) < len(args) else None
    return named.get(name)


def joined_string(node: ast.JoinedStr) -> ast.expr:
    """An f-string with `!s` left out and its literal parts put together."""
    pieces: list[Piece] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            pieces.append(str(value.value))
        elif isinstance(value, ast.FormattedValue) and value.format_spec is None:
            pieces.append((value.value, -1 if value.conversion == ord("s") else value.conversion))
        else:
            return node
    return joined(pieces)


def joined(pieces: list[Piece]) -> ast.expr:
    """An f-string of literals and values; a plain string without values."""
    values: list[ast.expr] = []
    for piece in pieces:
        last = values[-1] if values else None
        if not isinstance(piece, str):
            values.append(ast.FormattedValue(piece[0], piece[1], None))
        elif piece and last is not None and (before := _literal(last)) is not None:
            values[-1] = ast.Constant(before + piece)
        elif piece:
            values.append(ast.Constant(piece))
    if not values:
        return ast.Constant("")
    return values[0] if len(values) == 1 and _literal(values[0]) else ast.JoinedStr(values)


def folded(node: ast.BinOp) -> ast.expr:
    """`1 + 2` as `3`, literals of text added up; nothing that grows large."""
    left, right = node.left, node.right
    if not (isinstance(left, ast.Constant) and isinstance(right, ast.Constant)):
        return node
    a, b = left.value, right.value
    if isinstance(node.op, ast.Add) and isinstance(a, str) and isinstance(b, str):
        return ast.Constant(a + b) if len(a) + len(b) <= _MAX else node
    if type(a) is int and type(b) is int and abs(a) < 2**64 and abs(b) < 2**64:
        if isinstance(node.op, ast.Add):
            return ast.Constant(a + b)
        if isinstance(node.op, ast.Sub):
            return ast.Constant(a - b)
        if isinstance(node.op, ast.Mult):
            return ast.Constant(a * b)
    return node


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
