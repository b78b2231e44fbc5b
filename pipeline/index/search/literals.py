"""What must stand in every match of a pattern: few names hold it, and those alone are tried."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Literal

import numpy as np

_END = "\n"  # between names; a name has none
# Comments, verbose patterns and numbers of characters hold letters that are not looked for.
_FOREIGN = re.compile(r"\(\?(?:#|[A-Za-z-]*[xL])|\\[xuUN0-9]")
_TOKEN = re.compile(
    r"(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|\\.|(?P<times>\{\d*,?\d*\}|[*?])"
    r"|(?P<group>\(\?(?:P<\w+>|[:>])|\((?!\?))|(?P<other>\()"  # other: conditions and looks
    r"|(?P<plain>[A-Za-z0-9_])|.",
    re.DOTALL,
)
_SHORTEST = 2  # one letter stands in almost every name

Pieces = tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """A group as it is read: of each alternative the pieces that are sure. A run of letters that
    may go on, or a group that may turn out to be optional, is the last of them."""

    counts: bool = True
    alternatives: list[list[Pieces]] = field(default_factory=lambda: [[]])
    last: Literal["letters", "group", ""] = ""

    def letter(self, letter: str) -> None:
        sure = self.alternatives[-1]
        run = sure.pop()[0] if self.last == "letters" else ""
        sure.append((run + letter,))
        self.last = "letters"

    def group(self, pieces: Pieces) -> None:
        self.alternatives[-1].append(pieces)
        self.last = "group"

    def optional(self) -> None:
        """What stands last may be missing."""
        if self.last:
            last = self.alternatives[-1].pop()
            if self.last == "letters":
                self.alternatives[-1].append((last[0][:-1],))
        self.last = ""

    def pieces(self) -> Pieces:
        """The longest of each alternative; () when one has none."""
        best = [max(each, key=_worth, default=()) for each in self.alternatives]
        return tuple(chain.from_iterable(best)) if self.counts and all(map(_worth, best)) else ()


def _worth(pieces: Sequence[str]) -> int:
    return min(map(len, pieces), default=0)


def required(pattern: str) -> Pieces:
    """Lower-case ASCII pieces of which each match holds one, as far as names are ASCII.

    Empty when nothing can be said. The pattern must be one that compiles.

    >>> required(r"^get_(foo|bar)s?$"), required("save|[a-z]+_load"), required("a.*|b?")
    (('get_',), ('save', '_load'), ())
    """
    if _FOREIGN.search(pattern):
        return ()
    groups = [_Group()]
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind in {"group", "other"}:
            groups.append(_Group(kind == "group"))
        elif text == ")":
            inner = groups.pop()
            groups[-1].group(inner.pieces())
        elif kind == "plain":
            groups[-1].letter(text.lower())
        elif kind == "times":
            groups[-1].optional()
        elif text == "|":
            groups[-1].alternatives.append([])
            groups[-1].last = ""
        else:
            groups[-1].last = ""
    return groups[-1].pieces()


class Haystack:
    """Many names as one text, in which a piece is looked for once instead of in each name."""

    def __init__(self, names: Sequence[str]) -> None:
        self._count = len(names)
        self._text = _END.join(name.lower() if name.isascii() else "" for name in names)
        self._other = [at for at, name in enumerate(names) if not name.isascii()]
        lengths = (len(name) + 1 if name.isascii() else 1 for name in names)
        self._starts = np.fromiter(accumulate(lengths, initial=0), np.int64)

    def holding(self, pieces: Sequence[str]) -> Sequence[int]:
        """Positions of names that hold one of the pieces, in order; all when pieces tell little.

        Names that are not ASCII are always among them: ignoring case is not simple there.
        """
        if _worth(pieces) < _SHORTEST:
            return range(self._count)
        places = [at for piece in pieces for at in self._places(piece)]
        found = np.searchsorted(self._starts, np.array(places, np.int64), side="right") - 1
        return sorted({*found.tolist(), *self._other})

    def _places(self, piece: str) -> Iterator[int]:
        at = self._text.find(piece)
        while at >= 0:
            yield at
            at = self._text.find(piece, at + 1)
