"""When two patches are the same change: a key that comments, layout and wording do not touch.

Source: method.md §2.3.7 rule 2; choosing.md §4, level N2 (abstract syntax, no comments, no
docstrings). A unit is a function, a method, a class header, or the other statements of a class
or module; paths and units are part of the key, so the same edit elsewhere is another change.
"""

import ast
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from pipeline.choose.lines import normal_lines
from sandbox.patch.patch import FilePatch, parse

Texts = Mapping[str, str | None]
Units = dict[str, tuple[str, ...]]
Entry = tuple[str, ...]


def key(patch: str, before: Texts, after: Texts) -> str:
    """The sha256 of what a patch changes once normalised, "" when nothing is left.

    `before` and `after` hold the text of every touched path, None where there is no such file.
    Raises PatchError when `patch` cannot be read. Pure.
    """
    entries = sorted(
        entry
        for part in parse(patch)
        for entry in _entries(part, before.get(part.path), after.get(part.path))
    )
    return sha256(json.dumps(entries).encode()).hexdigest() if entries else ""


def changed_units(path: str, before: str | None, after: str | None) -> frozenset[str]:
    """Names of the Python units that differ (`Class.method`, `Class`, "" for the module's body).

    Empty for files that are not Python or do not parse.
    """
    old, new = python_units(path, before or ""), python_units(path, after or "")
    if old is None or new is None:
        return frozenset()
    return frozenset(name for name, _ in _changed(old, new))


def python_units(path: str, text: str) -> Units | None:
    """Each unit's canonical form, None when the file is not Python of this interpreter's grammar.

    Definitions of one name (overloads, property setters) are kept together in their order.
    """
    if not path.endswith((".py", ".pyi")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.encode("utf-8", "surrogateescape"))
        found: dict[str, list[str]] = {}
        for name, form in _units(tree.body, "", "Module"):
            found.setdefault(name, []).append(form)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return {name: tuple(forms) for name, forms in found.items()}


def _entries(part: FilePatch, before: str | None, after: str | None) -> Iterator[Entry]:
    if (before is None) != (after is None):
        yield part.path, "file", "deleted" if after is None else "created"
    elif part.old_mode != part.new_mode:
        yield part.path, "mode", part.new_mode
    if part.is_binary or part.moved:
        yield part.path, "raw", part.text
        return
    old, new = python_units(part.path, before or ""), python_units(part.path, after or "")
    if after is None:
        return
    if old is not None and new is not None:
        for name, forms in _changed(old, new):
            yield part.path, "unit", name, *forms
    else:
        yield from _line_entries(part, before or "", after)


def _changed(old: Units, new: Units) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in {*old, *new}:
        if old.get(name) != new.get(name):
            yield name, new.get(name, ())


def _units(body: list[ast.stmt], scope: str, head: str) -> Iterator[tuple[str, str]]:
    """The definitions right in `body`, and what else is in it as one unit named `scope`."""
    rest = []
    for statement in _without_docstring(body):
        if isinstance(statement, ast.ClassDef):
            name = f"{scope}.{statement.name}" if scope else statement.name
            yield from _units(statement.body, name, _class_head(statement))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{scope}.{statement.name}" if scope else statement.name
            yield name, _dump(statement)
        elif not isinstance(statement, ast.Pass):
            rest.append(_dump(statement))
    if rest or scope:
        yield scope, "\n".join((head, *rest))


def _class_head(node: ast.ClassDef) -> str:
    return "\n".join(
        (
            "Class",
            *map(_dump, node.decorator_list),
            *map(_dump, node.bases),
            *map(_dump, node.keywords),
        )
    )


def _dump(node: ast.AST) -> str:
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner.body = _without_docstring(inner.body) or [ast.Pass()]
        elif isinstance(inner, ast.Constant):
            inner.kind = None  # u"" is ""
    return ast.dump(node)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:] if isinstance(first.value.value, str) else body
    return body


def _line_entries(part: FilePatch, before: str, after: str) -> Iterator[Entry]:
    """The changed blocks of any other file: where in the base, what went, what came.

    The place counts only lines that are left after normalising, so a blank line or a comment
    does not move it.
    """
    old, new = normal_lines(part.path, before), normal_lines(part.path, after)
    for removed, added, at in _blocks(part):
        gone = _kept(old, removed)
        came = _kept(new, added)
        same = _common(gone, came)
        gone, came = gone[same:], came[same:]
        end = _common(gone[::-1], came[::-1])
        gone, came = gone[: len(gone) - end], came[: len(came) - end]
        if gone or came:
            place = sum(1 for line in old[:at] if line) + same
            yield part.path, "lines", str(place), *(f"-{x}" for x in gone), *(f"+{x}" for x in came)


def _kept(lines: tuple[str, ...], span: range) -> list[str]:
    return [lines[index] for index in span if lines[index]]


def _common(left: list[str], right: list[str]) -> int:
    pairs: Iterable[tuple[str, str]] = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def _blocks(part: FilePatch) -> Iterator[tuple[range, range, int]]:
    """Runs of removed and added lines: 0-based spans before and after, and where in the base."""
    for hunk in part.hunks:
        old = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        new = hunk.new_start - 1 if hunk.new_count else hunk.new_start
        old_from, new_from = old, new
        for line in hunk.lines:
            if line[0] == " ":
                if old > old_from or new > new_from:
                    yield range(old_from, old), range(new_from, new), old_from
                old, new = old + 1, new + 1
                old_from, new_from = old, new
            else:
                old, new = old + (line[0] == "-"), new + (line[0] == "+")
        if old > old_from or new > new_from:
            yield range(old_from, old), range(new_from, new), old_from
