"""Where code begins and ends in a comment, as GitHub reads it (CommonMark 4.5)."""

import re
from dataclasses import dataclass

_OPENS = re.compile(r" {0,3}(`{3,}|~{3,})([^\n]*)")


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence; `marker` is what opened it."""

    marker: str

    def closes(self, line: str) -> bool:
        """Whether a line ends this fence: same character, at least as many, nothing else."""
        bare = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        return indent <= 3 and len(bare) >= len(self.marker) and bare == self.marker[0] * len(bare)


def opened_by(line: str) -> Fence | None:
    """The fence a line opens; a back-tick in the words after a back-tick fence makes it none."""
    match = _OPENS.match(line)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    return Fence(match[1])
