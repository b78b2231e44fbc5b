"""Regular expressions that may be given by anybody, and those made from what is looked for.

Python's engine backtracks: patterns from outside are let through only without what makes that
explode, since names in a repository may be chosen to fit them.
"""

import re

from pipeline.index.store.words import forms

MAX_PATTERN = 200
MAX_EFFORT = 23.0  # of `_effort`: some ten milliseconds for the worst name
_LENGTH_BITS = 7.6  # of names: nothing longer than 200 characters is searched by pattern
MAX_CONTENT = 4_000
_ESCAPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_BACK = re.compile(r"\\[1-9]|\(\?P=")


def harmless(pattern: str) -> re.Pattern[str] | None:
    """The pattern, case ignored; None when it is none, matches all, or could run for ever."""
    if len(pattern) > MAX_PATTERN or _BACK.search(pattern):
        return None
    bare = _ESCAPED.sub("x", pattern)
    if re.search(r"\)\s*[*+{]", bare) or _effort(bare) > MAX_EFFORT:
        return None
    try:
        found = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError):
        return None
    return None if found.search("") else found


def _effort(bare: str) -> float:
    """The logarithm of the steps that backtracking may take on a name of 200 characters: each
    place to begin and each repeat multiplies them by its length, each alternative by two."""
    repeats = len(re.findall(r"[*+{]", bare))
    choices = len(re.findall(r"\||(?<!\()\?", bare))
    return _LENGTH_BITS * (repeats + 1) + choices


def identifier(content: str) -> bool:
    """Whether content is one variable name; what is longer than any is a piece of code."""
    return len(content) <= MAX_PATTERN and re.fullmatch(r"[^\W\d]\w*", content) is not None


def parts_of(name: str) -> list[str]:
    """The words of a camel or snake name, lower case: `getOrderBy` → get, order, by."""
    found = forms(name).split()
    return found[1:] or found


def variable(name: str) -> re.Pattern[str]:
    """A whole identifier in any of its spellings: get_order_by, getOrderBy, GET_ORDER_BY."""
    middle = "_?".join(map(re.escape, parts_of(name)))
    return re.compile(rf"\b_*{middle}_*\b", re.IGNORECASE)


def snippet(content: str) -> re.Pattern[str]:
    """Exactly this text, except that white space may be other white space (indentation)."""
    return re.compile(r"\s+".join(map(re.escape, content[:MAX_CONTENT].split())))
