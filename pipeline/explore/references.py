"""Do the files and names that a plan refers to exist? Against the index, or the work tree."""

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.agent.finishing import makes
from pipeline.explore.state import Exploration
from pipeline.index.errors import IndexingFailed
from pipeline.index.search import CodeSearch
from pipeline.values import Change, Location
from sandbox.errors import FileNotFound, NotAllowed

NEW = "(new)"


@dataclass(frozen=True, slots=True)
class References:
    """All files of the base commit, and the texts of those that plans and reviews speak of.

    `planned` are paths that some plan changes: files it makes need not be marked again.
    """

    files: Collection[str]
    texts: Mapping[str, str]
    planned: Collection[str] = ()

    def problem(self, changes: Iterable[Change], context: Iterable[Location]) -> str | None:
        """What does not exist, in a sentence that says what to do; None when all does.

        What a change marks `(new)` or says to add need not exist yet; a whole file only when it
        is marked or planned. A name exists when each part of it stands in the text of its file:
        units, attributes and constants of any language.
        """
        changed = tuple(changes)
        made = {each.path for each in changed if NEW in each.what} | set(self.planned)
        made -= set(self.files)
        for change in changed:
            symbol = "" if makes(change.what) else change.symbol
            found = None if change.path in made else self._missing(change.path, symbol)
            if found is not None:
                return f"{found}, or write {NEW} in `what` for what is to be created."
        named = {each.symbol for each in changed if makes(each.what)}
        for place in context:
            symbol = "" if place.symbol in named else place.symbol
            found = None if place.path in made else self._missing(place.path, symbol)
            if found is not None:
                return f"In `context`: {found}."
        return None

    def _missing(self, path: str, symbol: str) -> str | None:
        if path not in self.files:
            return f"{path} does not exist; name an existing path"
        if not symbol:
            return None
        text = self.texts.get(path)
        if text is None:
            return (
                f"{path} was not shown, so {symbol!r} in it is a guess; use the places of the "
                "plans and of the code shown, or leave `symbol` empty"
            )
        parts = re.findall(r"\w+", symbol.rpartition(":")[2])
        if parts and all(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in parts):
            return None
        return f"{path} has no {symbol!r}; name what the file defines, or leave `symbol` empty"


async def read_references(
    x: Exploration, paths: Iterable[str], planned: Collection[str] = ()
) -> References:
    """The files of the base commit, and the texts of `paths` as far as they are text files."""
    files = frozenset(await x.services.source.files())
    wanted = [path for path in dict.fromkeys(paths) if path in files]
    if x.code is not None:
        try:
            texts = await asyncio.to_thread(_indexed, x.code, wanted)
            return References(files, texts, planned)
        except IndexingFailed:
            pass  # the work tree has the same texts
    texts = {}
    for path in wanted:
        try:
            texts[path] = await x.workspace.read(path)
        except (FileNotFound, NotAllowed):
            continue
    return References(files, texts, planned)


def _indexed(code: CodeSearch, paths: list[str]) -> dict[str, str]:
    return dict(code.index.texts(paths))
