"""What a patch changes, as choosing compares it. Source: choosing.md §9 (key, edit)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from pipeline.choose.canonical.pieces import bag
from pipeline.choose.canonical.units import changed
from pipeline.choose.lines import normal_lines
from pipeline.choose.normalise import Texts, entries, key_of, tagged_lines
from pipeline.index.units import Unit, enclosing, units
from pipeline.values import Edit
from sandbox.patch.patch import FilePatch, parse

Definitions = Mapping[str, tuple[Sequence[Unit], Sequence[Unit]]]

Read = Callable[[str, str], Awaitable[Sequence[Unit]]]


async def edit_of(patch: str, before: Texts, after: Texts, read: Read = units) -> Edit:
    """The edit of a patch whose files' texts are known before and after it.

    A path that is in neither mapping counts by what the patch alone says. Raises PatchError when
    `patch` cannot be read. Definitions are read by `read`, in a process of its own, the rest in a
    thread.
    """
    definitions = {
        part.path: (
            await read(part.path, before.get(part.path) or ""),
            await read(part.path, after.get(part.path) or ""),
        )
        for part in parse(patch)
        if part.path in after and part.hunks
    }
    return await asyncio.to_thread(edit_from, patch, before, after, definitions)


def edit_from(patch: str, before: Texts, after: Texts, definitions: Definitions) -> Edit:
    """The edit, given the definitions of each file before and after. Pure."""
    found, files = [], set()
    symbols: set[str] = set()
    pieces: Counter[str] = Counter()
    for part in parse(patch):
        its = list(entries(part, before, after))
        if not its:
            continue
        found += its
        files.add(part.path)
        known = part.path in after
        texts = (before.get(part.path) or "", after.get(part.path) or "")
        if part.path in definitions:
            symbols.update(_symbols(part, definitions[part.path]))
        pieces.update(_digest(piece) for piece in _pieces(part, texts, known=known))
    return Edit(
        key_of(found),
        tuple(sorted(files)),
        tuple(sorted(symbols)),
        tuple(sorted(pieces.items())),
    )


def _symbols(part: FilePatch, definitions: tuple[Sequence[Unit], Sequence[Unit]]) -> Iterator[str]:
    """Definitions around the lines that go, before, and around those that come, after."""
    for found, lines in zip(definitions, _changed_lines(part), strict=True):
        for number, line in lines:
            if any(normal_lines(part.path, line)):
                around = enclosing(found, number)
                yield f"{part.path}:{around.name if around else ''}"


def _changed_lines(part: FilePatch) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Lines that go and lines that come, with their 1-based numbers."""
    gone, came = list[tuple[int, str]](), list[tuple[int, str]]()
    for hunk in part.hunks:
        old = hunk.old_start if hunk.old_count else hunk.old_start + 1
        new = hunk.new_start if hunk.new_count else hunk.new_start + 1
        for line in hunk.lines:
            if line[0] == "-":
                gone.append((old, line[1:]))
            elif line[0] == "+":
                came.append((new, line[1:]))
            old, new = old + (line[0] != "+"), new + (line[0] != "-")
    return gone, came


def _pieces(part: FilePatch, texts: tuple[str, str], *, known: bool) -> Iterator[str]:
    """What comes and goes with its sign: sub-trees of Python, lines of anything else."""
    units_changed = changed(part.path, *texts) if known else None
    if units_changed is None:
        yield from tagged_lines(part)
        return
    for _, was, now in units_changed:
        gone, came = bag(was), bag(now)
        yield from (f"-{piece}" for piece in (gone - came).elements())
        yield from (f"+{piece}" for piece in (came - gone).elements())


def _digest(piece: str) -> str:
    """Sixteen hexadecimal digits: enough to tell pieces of one pool apart, little to store."""
    return sha256(piece.encode("utf-8", "surrogateescape")).hexdigest()[:16]
