"""Characters that look like nothing: they hide orders in issues and tricks in answers."""

import re
import unicodedata

_ANSI = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b\n]*+(?:\x07|\x1b\\)?+)?")
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\ufeff")  # common in emoji: taken out without a word
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cn", "Cs"})


def without_invisible(text: str) -> tuple[str, int]:
    """The text without invisible characters and terminal codes, and how many are worth telling.

    Tabs and line feeds stay. Linear in the text.
    """
    text = _ANSI.sub("", text)
    gone = {char for char in set(text) if _is_invisible(char)}
    count = sum(text.count(char) for char in gone - _JOINERS)
    return text.translate(dict.fromkeys(map(ord, gone))), count


def _is_invisible(char: str) -> bool:
    point = ord(char)
    if not char.isprintable() and char not in "\n\t":
        return unicodedata.category(char) in _HIDDEN_CATEGORIES
    return char in _BLANKS or 0xFE00 <= point <= 0xFE0F or 0xE0000 <= point <= 0xE01EF
