"""Find the command in a comment: pure, and only in what GitHub shows as the writer's own words.

Quoted text, code, hidden comments and words in the middle of a line never count.
"""

import re
from dataclasses import dataclass
from typing import Literal

from app.admission.fences import Fence, opened_by

Name = Literal["rerun", "help", "unknown"]
COMMANDS: tuple[Name, ...] = ("rerun", "help")
LINE_LIMIT = 300

_QUOTE = re.compile(r" {0,3}>")
_WORD = re.compile(r"[a-z][a-z-]{0,30}")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was given. `argument` is the rest of its line; `word` what was typed."""

    name: Name
    word: str
    argument: str = ""


def parse(body: str | None, slug: str) -> Command | None:
    """The command on the first line that counts, None when that line is none.

    `/prism <word>` and `@<slug> <word>` are the same, in any case; words nobody knows give the
    name "unknown", no word at all gives help. With slug "" any mention counts: for a filter
    that does not know the App's name and only sorts out what cannot be a command.
    """
    line = _first_own_line((body or "").replace("\r\n", "\n").replace("\r", "\n"))
    if line is None or len(line) > LINE_LIMIT:
        return None
    name = re.escape(slug) if slug else "[a-z0-9-]+"
    calls = rf"(?:/prism|@{name})(?:[:,!.?]?\s+(?P<rest>.*)|[:,!.?]?)"
    match = re.fullmatch(calls, line, re.IGNORECASE)
    if match is None:
        return None
    word, _, argument = (match["rest"] or "").strip().partition(" ")
    word = word.lower().rstrip(":,!.?")
    if not word:
        return Command("help", "")
    known = next((name for name in COMMANDS if name == word), None)
    if known is None:
        return Command("unknown", word if _WORD.fullmatch(word) else "")
    return Command(known, word, argument.strip())


def _first_own_line(text: str) -> str | None:
    """The first line a person typed that is neither empty, quoted, code nor hidden."""
    fence: Fence | None = None
    quoted = hidden = False
    for raw in text.split("\n"):
        if fence is not None:
            fence = None if fence.closes(raw) else fence
            continue
        line, hidden = _outside_comments(raw, hidden)
        if not line.strip():
            quoted = quoted and bool(raw.strip())
        elif _QUOTE.match(line) or (quoted and opened_by(line) is None):
            quoted = True  # a line right below a quoted one still belongs to it
        elif (fence := opened_by(line)) is None:
            return None if line.startswith(("    ", "\t")) else line.strip()
        else:
            quoted = False
    return None


def _outside_comments(line: str, hidden: bool) -> tuple[str, bool]:
    """What a line shows, and whether an HTML comment is open at its end."""
    shown: list[str] = []
    position = 0
    while True:
        if hidden:
            end = line.find("-->", position)
            if end < 0:
                return "".join(shown), True
            position = end + 3
        start = line.find("<!--", position)
        hidden = start >= 0
        shown.append(line[position : start if hidden else len(line)])
        if not hidden:
            return "".join(shown), False
        position = start + 4
