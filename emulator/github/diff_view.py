"""A unified diff as rows for a page: per file, with line numbers."""

import re
from dataclasses import dataclass, field
from typing import Literal

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Row:
    """One line; `old` and `new` are its numbers, None where it does not stand."""

    kind: Literal["hunk", "add", "del", "same", "note"]
    old: int | None
    new: int | None
    text: str


@dataclass(slots=True)
class FileDiff:
    """The changes of one file."""

    path: str
    rows: list[Row] = field(default_factory=list)

    @property
    def added(self) -> int:
        """How many lines were added."""
        return sum(each.kind == "add" for each in self.rows)

    @property
    def deleted(self) -> int:
        """How many lines were deleted."""
        return sum(each.kind == "del" for each in self.rows)


def files(diff: str) -> list[FileDiff]:
    """Split what `git diff` wrote; the order of the files is kept."""
    found: list[FileDiff] = []
    old = new = 0
    in_hunk = False
    for line in diff.splitlines():
        if line.startswith("diff --git "):
            found.append(FileDiff(line.rpartition(" b/")[2]))
            in_hunk = False
            continue
        hunk = _HUNK.match(line)
        if hunk:
            old, new, in_hunk = int(hunk[1]), int(hunk[2]), True
            found[-1].rows.append(Row("hunk", None, None, line))
        elif in_hunk:
            row = _row(line, old, new)
            old += row.old is not None
            new += row.new is not None
            found[-1].rows.append(row)
        elif line.startswith(("new file", "deleted file", "old mode", "new mode", "Binary")):
            found[-1].rows.append(Row("note", None, None, line))
    return found


def _row(line: str, old: int, new: int) -> Row:
    if line.startswith("+"):
        return Row("add", None, new, line[1:])
    if line.startswith("-"):
        return Row("del", old, None, line[1:])
    if line.startswith("\\"):
        return Row("note", None, None, line)
    return Row("same", old, new, line[1:])
