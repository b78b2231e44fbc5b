"""Rust's `use` trees, as text, to single imports."""

import re
from collections.abc import Iterable

from pipeline.index.values import Import

_MAX_DEPTH = 30
_MAX_NAMES = 2_000
_TOKEN = re.compile(r"[{},*]|::|[\w#]+")


def flatten(tree: str, line: int) -> Iterable[Import]:
    """`a::{b, c as d, e::*}` to `a b`, `a c as d`, `a.e *`; `self` stands for the module itself."""
    stack: list[list[str]] = []
    path: list[str] = []
    alias = ""
    renames = False
    count = 0
    for token in (*_TOKEN.findall(tree), ","):
        if token == "{":
            stack.append(path)
            path = list(path)
            if len(stack) > _MAX_DEPTH:
                return
        elif token in {",", "}"}:
            outer = stack[-1] if stack else []
            if path != outer:
                count += 1
                yield _import(path, alias, line)
            path, alias, renames = list(outer), "", False
            if token == "}" and stack:
                # What a group stood for is said; only its place is left.
                path = list(stack.pop())
                path = list(stack[-1]) if stack else []
            if count > _MAX_NAMES:
                return
        elif token == "as":
            renames = True
        elif renames:
            alias = token
        elif token != "::":
            path = [*path, token]


def _import(path: list[str], alias: str, line: int) -> Import:
    *module, name = path
    if name == "self" and module:
        return Import(".".join(module), "", alias or module[-1], line)
    if name == "*":
        return Import(".".join(module), "*", "", line)
    if not module:
        return Import(name, "", alias or name, line)
    return Import(".".join(module), name, alias or name, line)
