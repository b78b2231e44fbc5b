"""What can be said about a candidate without running anything. Source: method.md §2.3.6."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pipeline.index.units import parses, undefined
from sandbox.base import Source
from sandbox.patch.patch import PatchError, apply, parse


@dataclass(frozen=True, slots=True)
class StaticCheck:
    """Whether a patch applies and what it makes of each file.

    `before` and `after` map every touched path to its text, None where there is no such file;
    both are empty when the patch does not apply. `parses` is False when a file that parsed before
    no longer does, or a new one does not. `note` says what is wrong, "" when nothing.
    """

    applies: bool
    parses: bool
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]
    note: str = ""


async def static_check(patch: str, source: Source) -> StaticCheck:
    """Apply a patch to the base in memory, without fuzz, and parse every file it changes."""
    before: dict[str, str | None] = {}
    after: dict[str, str | None] = {}
    try:
        for part in parse(patch):
            before[part.path] = await _text(source, part.path)
            after[part.path] = apply(part, before[part.path])
    except PatchError as error:
        return StaticCheck(False, False, {}, {}, str(error))
    broken = [path for path in sorted(after) if await _breaks(path, before[path], after[path])]
    note = f"Does not parse any more: {', '.join(broken)}." if broken else ""
    return StaticCheck(True, not broken, before, after, note)


async def _breaks(path: str, before: str | None, after: str | None) -> bool:
    # A file that our grammar never understood says nothing about the patch.
    if after is None or await parses(path, after) is not False:
        return False
    return before is None or await parses(path, before) is not False


async def undefined_names(
    checked: StaticCheck, changed: Collection[str], source: Source
) -> tuple[str, ...]:
    """`name (path)` of what a patch uses in the `changed` files and nothing defines, sorted.

    Only what is new there, and what no file of the base puts among the built-in names. An
    annotation, or a file that makes its names while it runs, is given the benefit of the doubt.
    """
    found = set()
    for path in changed:
        after, before = checked.after.get(path), checked.before.get(path)
        names = await undefined(path, after) if after is not None else frozenset()
        if names and before is not None:
            names -= await undefined(path, before)
        found |= {(name, path) for name in names}
    injected = await _injected(source, {name for name, _ in found}) if found else frozenset()
    return tuple(sorted(f"{name} ({path})" for name, path in found if name not in injected))


async def _injected(source: Source, names: Collection[str]) -> frozenset[str]:
    """Those of the names that stand in a file which speaks of the built-in ones."""
    found: set[str] = set()
    for path in await source.files():
        data = await source.read(path) if path.endswith(".py") else None
        if data is not None and b"builtin" in data:
            words = set(re.findall(r"\w+", data.decode("utf-8", "replace")))
            found |= words.intersection(names)
    return frozenset(found)


async def _text(source: Source, path: str) -> str | None:
    data = await source.read(path)
    return None if data is None else data.decode("utf-8", "surrogateescape")
