"""Words of code and of prose as one vocabulary: identifiers split, stemmed, without stop words.

A word is known by a 32-bit number (CRC of its text), so that counts of one blob need no shared
table of words. Two words with one number are about as rare as a misspelling and as harmless.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from zlib import crc32

MAX_WORD = 80  # characters; longer ones are data
WORD = re.compile(r"[A-Za-z_]\w*|\d{3,}")
_HUMP = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")

_ENGLISH = """
a about after again all also am an and any are as at be because been before being below between both
but by can cannot could did do does doing down during each few for from further get had has have
having he her here him his how i if in into is it its just like me more most my no nor not now of
off on once only or other our out over own same see she should so some such than that the their them
then there these they this those through to too under until up use used using very was we
were what when where which while who why will with would you your dont doesnt isnt im ive
"""
_KEYWORDS = """
def class return import self cls none true false elif else except finally raise try lambda pass
yield assert async await global nonlocal del function const let var new public private static void
"""
STOP = frozenset((_ENGLISH + _KEYWORDS).split())


def stem(word: str) -> str:
    """A lower-case word without its commonest English endings; short words stay as they are.

    `serialize`, `serializing` and `serialization` come to the same, as do `query` and `queries`.
    """
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ation", "ating", "ated", "ate"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    for ending in ("ing", "ion", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return _undoubled(word[: -len(ending)])
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def _undoubled(word: str) -> str:
    """`runn` to `run`, but `express` stays."""
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "ls" else word


@lru_cache(maxsize=1 << 18)
def expand(raw: str) -> tuple[str, ...]:
    """The words of one identifier or number: its parts, and a compound also as a whole.

    Stop words and single letters are left out.
    """
    if len(raw) > MAX_WORD:
        return ()
    lowered = raw.lower()
    if lowered in STOP:
        return ()
    parts = [each.lower() for each in _HUMP.findall(raw)] if raw.isascii() else [lowered]
    words = [stem(each) for each in parts if len(each) > 1 and each not in STOP]
    if len(parts) > 1:
        words.append(lowered.strip("_"))
    return tuple(words)


@lru_cache(maxsize=1 << 18)
def number(word: str) -> int:
    """What stands for a word in the counts."""
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1 << 18)
def numbers(raw: str) -> tuple[int, ...]:
    """The numbers of the words of one identifier."""
    return tuple(number(each) for each in expand(raw))


def count(text: str) -> Counter[int]:
    """How often each word stands in a text, by number."""
    found: Counter[int] = Counter()
    for raw, times in Counter(WORD.findall(text)).items():
        for each in numbers(raw):
            found[each] += times
    return found


def query(title: str, body: str) -> dict[int, float]:
    """Weight of each word of an issue: twice for the title, logarithmic in the body.

    The body is never cut: what is asked for often stands at its end.
    """
    head, rest = count(title), count(body)
    return {
        word: 2.0 * min(head.get(word, 0), 2) + (1 + math.log(rest[word]) if word in rest else 0.0)
        for word in head | rest
    }


def strongest(weights: Mapping[int, float], limit: int) -> dict[int, float]:
    """The `limit` heaviest words: a bound on the work that a pasted log can cause."""
    if len(weights) <= limit:
        return dict(weights)
    best = sorted(weights, key=lambda word: (-weights[word], word))[:limit]
    return {word: weights[word] for word in best}
