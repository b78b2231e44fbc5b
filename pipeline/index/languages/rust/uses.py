"""Rust's `use` trees, as text, to single imports."""

import re
from collections.abc import Iterable

from pipeline.index.values import Import

_MAX_DEPTH = 30
_MAX_PIECES = 8_000
_PIECE = re.compile(r"[{},*]|[\w#]+")


def flatten(tree: str, line: int) -> Iterable[Import]:
    """`a::{b, c as d, e::*}` to `a b`, `a c as d`, `a.e *`; `self` stands for the module itself."""
    outer: list[list[str]] = [[]]
    path: list[str] = []
    for piece in (*_PIECE.findall(tree)[:_MAX_PIECES], ","):
        if piece == "{":
            if len(outer) > _MAX_DEPTH:
                return
            outer.append(path)
            path = list(path)
        elif piece in {",", "}"}:
            # Right after a group nothing new stands here.
            if len(path) > len(outer[-1]):
                yield _import(path, line)
            if piece == "}" and len(outer) > 1:
                outer.pop()
            path = list(outer[-1])
        else:
            path.append(piece)


def _import(path: list[str], line: int) -> Import:
    alias = ""
    if len(path) > 2 and path[-2] == "as":
        *path, _, alias = path
    *module, name = path
    if name == "self" and module:
        return Import(".".join(module), "", alias or module[-1], line)
    if name == "*":
        return Import(".".join(module), "*", "", line)
    if not module:
        return Import(name, "", alias or name, line)
    return Import(".".join(module), name, alias or name, line)
