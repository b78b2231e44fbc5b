"""When two patches are the same change: a key that comments, layout and wording do not touch.

Source: method.md §2.3.7 rule 2; choosing.md §4, level N4 for Python, lines for other languages. A
unit is a function, a method, a class's head and body, or the other statements of a module; paths
and units are part of the key, so the same edit elsewhere is another change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from pipeline.choose.canonical.canonical import canonical_change
from pipeline.choose.canonical.units import changed
from pipeline.choose.lines import normal_lines
from sandbox.patch.patch import FilePatch, parse

Texts = Mapping[str, str | None]
Entry = tuple[str, ...]


def key(patch: str, before: Texts, after: Texts) -> str:
    """The sha256 of what a patch changes once normalised, "" when nothing is left.

    `before` and `after` hold the text of every touched path, None where there is no such file. A
    path that is not in them counts by what the patch alone says. Raises PatchError when `patch`
    cannot be read. Pure.
    """
    return key_of(entry for part in parse(patch) for entry in entries(part, before, after))


def key_of(found: Iterable[Entry]) -> str:
    """The key of a patch's entries, in whatever order they come."""
    ordered = sorted(found)
    return sha256(json.dumps(ordered).encode()).hexdigest() if ordered else ""


def changed_units(path: str, before: str | None, after: str | None) -> frozenset[str]:
    """Names of the Python units that differ (`Class.method`, `Class`, "" for the module's body).

    Empty for files that are not Python or do not parse.
    """
    return frozenset(name for name, _, _ in changed(path, before or "", after or "") or ())


def entries(part: FilePatch, before: Texts, after: Texts) -> Iterator[Entry]:
    """What one file of a patch adds to the key; nothing for comments and layout."""
    if part.path not in after:
        yield from _alone(part)
        return
    old_text, new_text = before.get(part.path), after[part.path]
    if (old_text is None) != (new_text is None):
        yield part.path, "file", "deleted" if new_text is None else "created"
    elif part.old_mode != part.new_mode:
        yield part.path, "mode", part.new_mode
    if part.is_binary or part.moved:
        yield part.path, "raw", part.text
        return
    if new_text is None:
        return
    forms = _unit_entries(part.path, old_text or "", new_text)
    if forms is None:
        yield from _line_entries(part, old_text or "", new_text)
    else:
        yield from forms


def _unit_entries(path: str, before: str, after: str) -> list[Entry] | None:
    """Canonical forms of the changed units, None when the file is not parsed."""
    found: list[Entry] = []
    units = changed(path, before, after)
    if units is None:
        return None
    for name, was, now in units:
        forms = canonical_change(was, now)
        if forms is not None:
            found.append((path, "unit", name, *forms))
    return found


def _alone(part: FilePatch) -> Iterator[Entry]:
    """The lines that come and go, where the file itself is not known."""
    lines = list(tagged_lines(part))
    if lines or part.is_binary or part.moved:
        yield part.path, "alone", *lines, *([part.text] if part.is_binary or part.moved else [])
    if part.old_mode != part.new_mode:
        yield part.path, "mode", part.new_mode


def tagged_lines(part: FilePatch) -> Iterator[str]:
    """Added and removed lines with their sign, without comments and layout, in their order."""
    for hunk in part.hunks:
        for sign in "-+":
            kept = [line for line in hunk.lines if line[0] in (" ", sign)]
            normal = normal_lines(part.path, "".join(line[1:] for line in kept))
            for line, text in zip(kept, normal, strict=False):
                if line[0] == sign and text:
                    yield sign + text


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
