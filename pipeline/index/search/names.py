"""All definitions of a commit by name: exact, then as a regular expression, then alike."""

import re
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from pipeline.index.search.fuzzy import Fuzzy
from pipeline.index.search.literals import Haystack, required
from pipeline.index.search.patterns import harmless
from pipeline.index.search.values import Match
from pipeline.index.store import Index

LONGEST_NAME = 200
SEARCH_S = 2.0
_KEYWORD = re.compile(
    r"^(?:async\s+)?(?:def|class|function|func|fn|interface|struct|enum|trait)\s+"
)
_CALL = re.compile(r"([\w.:$#]+)\s*\([^|?\\]*\)")
_SCOPED = re.compile(r"\\\.|\w\.\w")  # a pattern that speaks of a scope: `A\.b`, `A.b`


class Named(NamedTuple):
    """One definition: `name` qualified, `own` its last part, its first line.

    `place` is its position among all: code before tests, then what stands higher up.
    """

    name: str
    own: str
    path: str
    start: int
    is_test: bool
    place: int


Accepts = Callable[[str], bool]


class Names:
    """The table of names of one commit, read once (0.2 s on a large repository)."""

    def __init__(self, index: Index) -> None:
        self._by_own: dict[str, list[Named]] = {}
        tests = {row.path for row in index.files() if row.is_test}
        rows = index.rows(
            "SELECT row, name, start FROM units JOIN here USING (row) "
            "WHERE kind IN ('class', 'function')"
        )
        index.require_whole()
        found = [
            (path in tests, path.count("/"), name.count("."), path, start, name)
            for row, name, start in rows
            for path in index.paths(row)
        ]
        for place, (tested, _, _, path, start, name) in enumerate(sorted(found)):
            own = name.rpartition(".")[2]
            named = Named(name, own, path, start, tested, place)
            self._by_own.setdefault(own, []).append(named)

    @cached_property
    def _owns(self) -> Sequence[str]:
        return tuple(self._by_own)

    @cached_property
    def _short(self) -> Sequence[str]:
        """Longer ones are left to fuzzy search: a pattern takes its time with them."""
        return tuple(own for own in self._by_own if len(own) <= LONGEST_NAME)

    @cached_property
    def _scoped(self) -> Sequence[Named]:
        every = (each for own in self._short for each in self._by_own[own])
        return tuple(each for each in every if len(each.name) <= LONGEST_NAME)

    @cached_property
    def _own_text(self) -> Haystack:
        return Haystack(self._short)

    @cached_property
    def _scoped_text(self) -> Haystack:
        return Haystack([each.name for each in self._scoped])

    @cached_property
    def _fuzzy(self) -> Fuzzy:
        return Fuzzy([own.lower() for own in self._owns])

    def prepare(self) -> None:
        """Make ready what the first search by a pattern, and the first fuzzy one, needs."""
        self._own_text.holding(())
        self._scoped_text.holding(())
        self._fuzzy.best("", 1)

    def exact(self, asked: str) -> list[Named]:
        """Definitions of that name; of a dotted one as much as their own names and paths hold.

        `pkg.module.Class.method` finds `Class.method` in pkg/module.py, `x.method` any `method`
        only when some scope or file is called x.
        """
        *scopes, own = asked.split(".")
        return [named for named in self._by_own.get(own, []) if _within(named, scopes)]

    def matching(self, asked: str) -> list[Named]:
        """Definitions whose own or qualified name holds a match of the regular expression.

        Ends after two seconds with what was found: names may be made to be slow.
        """
        pattern = harmless(asked)
        if pattern is None:
            return []
        # Anchored, `search` would still try every position of every name.
        anchored = asked.startswith("^") and "|" not in asked
        search = pattern.match if anchored else pattern.search
        pieces = required(asked)
        end = time.monotonic() + SEARCH_S
        own = [self._short[at] for at in self._own_text.holding(pieces)]
        found = [name for name in own if time.monotonic() < end and search(name)]
        named = [each for name in found for each in self._by_own[name]]
        if _SCOPED.search(asked) is None:
            return named
        have = set(found)
        scoped = (self._scoped[at] for at in self._scoped_text.holding(pieces))
        return named + [
            each
            for each in scoped
            if each.own not in have and time.monotonic() < end and search(each.name)
        ]

    def alike(self, asked: str, limit: int) -> list[tuple[float, Named]]:
        """Definitions whose own name is like the last part of what is asked, best first."""
        own = asked.rpartition(".")[2]
        found = self._fuzzy.best(own, limit)
        return [(score, named) for score, at in found for named in self._by_own[self._owns[at]]]

    def find(
        self, asked: str, accepts: Accepts, limit: int
    ) -> tuple[Match, list[tuple[float, Named]]]:
        """The first way of looking that finds anything where `accepts` lets it (tests too)."""
        asked = plain(asked)
        exact = [(1.0, each) for each in self.exact(asked) if accepts(each.path)]
        if exact:
            return "exact", sorted(exact, key=_place)
        regex = [(1.0, each) for each in self.matching(asked) if accepts(each.path)]
        if regex:
            own = asked.rpartition(".")[2].lower()
            very = [found for found in regex if found[1].own.lower() == own]
            rest = [found for found in regex if found[1].own.lower() != own] if very else regex
            return "regex", sorted(very, key=_place) + sorted(rest, key=_place)
        alike = self.alike(asked, limit * 4)
        return "fuzzy", [found for found in alike if accepts(found[1].path)]


def plain(asked: str) -> str:
    """A name without what people write around it: `def f(x):` → f, `A::b` → A.b."""
    bare = _KEYWORD.sub("", asked.strip().strip("`").rstrip(":{ "))
    if call := _CALL.fullmatch(bare):
        bare = call[1]
    bare = re.sub(r"#\d+$", "", bare)  # the second of a name has an id of its own, no other name
    return bare.replace("::", ".").strip(" ")


def _within(named: Named, scopes: Sequence[str]) -> bool:
    """Whether the scopes asked for end in those of the definition, the rest in its path."""
    if not scopes:
        return True
    own = named.name.split(".")[:-1]
    place = re.split(r"[/.]", named.path.rpartition(".")[0])
    place = place[:-1] if place[-1] in {"__init__", "index", "mod"} else place
    return [*place, *own][-len(scopes) :] == list(scopes) or own[-len(scopes) :] == list(scopes)


def _place(found: tuple[float, Named]) -> int:
    return found[1].place
