"""Take out of an issue's text what a reader on GitHub does not see, and say what it was.

Every step is linear in the text. This lowers noise and tells maintainers of hidden text: it is
not what keeps a misled model inside its sandbox.
"""

import re
import unicodedata
from dataclasses import dataclass

from app.admission.visible import Hidden, reduce
from app.messages.characters import without_invisible
from app.messages.facts import Removal

RAW_LIMIT = 65_536
TEXT_LIMIT = 32_768
TITLE_LIMIT = 300
SAMPLE = 80
PASSES = 6


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The text for the model, and what is missing in it."""

    text: str
    removed: tuple[Removal, ...]


def clean(raw: str | None, limit: int = TEXT_LIMIT) -> Cleaned:
    """The visible text, at most `limit` bytes of UTF-8; null is the empty text.

    Cleaning an uncut result again changes nothing.
    """
    text = (raw or "").replace("\r\n", "\n").replace("\r", "\n")
    hidden: list[Hidden] = []
    if len(text) > RAW_LIMIT:
        text = text[:RAW_LIMIT]
        hidden.append(Hidden("text beyond the size limit", ""))
    for _ in range(PASSES):
        reduced, found = _pass(text)
        hidden += found
        if reduced == text:
            break
        text = reduced
    else:  # entities within entities within …: nobody writes that for people to read
        text = _settle(text, hidden)
    cut = _cut(text, limit)
    if cut != text:
        hidden.append(Hidden("text beyond the size limit", ""))
    return Cleaned(cut, _summary(hidden))


def clean_title(raw: str | None) -> Cleaned:
    """A title as one line, at most 300 bytes."""
    cleaned = clean(raw, TITLE_LIMIT)
    return Cleaned(" ".join(cleaned.text.split()), cleaned.removed)


def _pass(text: str) -> tuple[str, list[Hidden]]:
    reduced, hidden = reduce(text)
    text, count = without_invisible(unicodedata.normalize("NFC", reduced))
    hidden += [Hidden("invisible character", "")] * count
    return text.strip("\n").rstrip(), hidden


def _settle(text: str, hidden: list[Hidden]) -> str:
    hidden.append(Hidden("nested entities", ""))
    return _pass(re.sub(r"[&<`\[\]\\]", " ", text))[0]


def _cut(text: str, limit: int) -> str:
    """At most `limit` bytes, at a character's border and, when one is near, at a line's."""
    data = text.encode()
    if len(data) <= limit:
        return text
    cut = data[:limit].decode(errors="ignore")
    line = cut.rfind("\n")
    return (cut[:line] if line > len(cut) - 500 and line > 0 else cut).rstrip()


def _summary(hidden: list[Hidden]) -> tuple[Removal, ...]:
    counts: dict[str, list[str]] = {}
    for entry in hidden:
        counts.setdefault(entry.kind, []).append(entry.text)
    return tuple(
        Removal(kind, len(texts), " ".join(without_invisible(texts[0])[0].split())[:SAMPLE])
        for kind, texts in counts.items()
    )
