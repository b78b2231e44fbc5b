"""Names, heads and documentation of Python definitions, as short texts."""

import ast
import re
from collections.abc import Sequence

MAX_SIGNATURE = 160
MAX_DOC = 400
_MAX_HEAD_LINES = 60
_MAX_PARTS = 12

_HEAD_PIECE = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<comment>\#[^\n]*)|(?P<mark>[()\[\]{}:])"""
)


def callee(node: ast.expr) -> str:
    """A called expression in short: `f`, `self.x`, `a().b`, `a[].b`; what has no name is `?`."""
    parts: list[str] = []
    suffix = ""
    while len(parts) < _MAX_PARTS:
        kind = node.__class__
        if kind is ast.Attribute:
            parts.append(node.attr + suffix)  # type: ignore[attr-defined] # not narrowed by __class__
            suffix, node = "", node.value  # type: ignore[attr-defined] # as above
        elif kind is ast.Call:
            suffix, node = "()" + suffix, node.func  # type: ignore[attr-defined] # as above
        elif kind is ast.Subscript:
            suffix, node = "[]" + suffix, node.value  # type: ignore[attr-defined] # as above
        else:
            parts.append((node.id if isinstance(node, ast.Name) else _other(node)) + suffix)
            break
        if len(suffix) > MAX_SIGNATURE:
            break
    return ".".join(reversed(parts))


def _other(node: ast.expr) -> str:
    return '""' if isinstance(node, ast.Constant | ast.JoinedStr) else "?"


def doc(body: Sequence[ast.stmt]) -> str:
    """The beginning of a docstring, indentation taken off; "" when there is none."""
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return ""
    value = first.value.value
    if not isinstance(value, str):
        return ""
    text = value[: 2 * MAX_DOC].strip()
    return "\n".join(line.strip() for line in text.split("\n"))[:MAX_DOC].rstrip()


def head(lines: Sequence[str], line: int) -> str:
    """The head that begins at a 1-based line, up to its colon, on one line."""
    first = lines[line - 1].strip()
    if first.endswith(":") and "#" not in first and first.count("(") == first.count(")"):
        return shorten(first)
    return shorten(_whole("\n".join(lines[line - 1 : line - 1 + _MAX_HEAD_LINES])))


def shorten(text: str) -> str:
    """A text on one line, at most 160 characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_SIGNATURE else line[: MAX_SIGNATURE - 1] + "…"


def _whole(text: str) -> str:
    """Up to the colon outside all brackets; comments and what follows are left out."""
    depth, kept, last = 0, [], 0
    for found in _HEAD_PIECE.finditer(text):
        if found.lastgroup == "comment":
            kept.append(text[last : found.start()])
            last = found.end()
        elif found.lastgroup == "mark":
            mark = found.group()
            depth += (mark in "([{") - (mark in ")]}")
            if mark == ":" and depth == 0:
                kept.append(text[last : found.end()])
                return "".join(kept)
    return text.split("\n", 1)[0]
