"""Which definition a place in a text belongs to."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.index.values import Definition


@dataclass(frozen=True, slots=True)
class Mark:
    """A span of bytes that names what is inside it; `owner` is the definition that calls there
    belong to."""

    start: int
    end: int
    name: str
    owner: str
    definition: Definition | None


MODULE = Mark(0, 0, "", "", None)


class Around:
    """Walks along the definitions of a text, whose places are asked for in rising order."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self._marks = marks
        self._following = 0
        self._around = [MODULE]

    def owner(self, place: int) -> str:
        """The innermost definition around a byte."""
        marks, around = self._marks, self._around
        while self._following < len(marks) and marks[self._following].start <= place:
            around.append(marks[self._following])
            self._following += 1
        while len(around) > 1 and around[-1].end <= place:
            around.pop()
        return around[-1].owner
