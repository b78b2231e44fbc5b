"""What each signal counts for: round numbers, from a fit of a prototype to known fixes.

Every signal is divided by its greatest value among the candidates of one issue, except those in
`AS_THEY_ARE`; a score is the sum of weight × value. For files equal weights do as well; for
functions they lose eight points, because length and words have to outweigh the rest.
"""

from collections.abc import Mapping
from types import MappingProxyType

FILE: Mapping[str, float] = MappingProxyType(
    {
        "words in its best units": 2.0,
        "words in the file": 1.5,
        "words of the title": 1.5,
        "words outside code blocks": 1.5,
        "named path or link": 1.5,
        "title words in the path": 1.0,
        "words in unit names": 1.0,
        "words in documentation": 1.0,
        "quoted message": 1.0,
        "deepest call of a traceback": 1.0,
        "similar commit messages": 1.0,
        "commit named in the issue": 2.0,
        "defines what is named": 0.5,
        "near in the graph of names": 0.5,
        "reached in the graph of names": 0.5,
        "in a traceback": 0.5,
        "changed lately": 0.5,
        "length": -1.0,
        "package or declaration file": -0.5,
        "documentation, example, tool or copy": -2.0,
        "not the project's language": -1.0,
    }
)

UNIT: Mapping[str, float] = MappingProxyType(
    {
        "words, against its file": 2.5,
        "near in the graph of names": 2.0,
        "words": 1.5,
        "linked lines": 1.5,
        "words in its name, against its file": 1.0,
        "deepest call of a traceback": 1.0,
        "named member of a class above": 0.5,
        "class is named": 0.5,
        "in a traceback": 0.5,
        "quoted message": 0.5,
        "score of its file": 0.5,
        "rank of its file": 0.5,
        "length": 4.0,
        # Only where classes and files are ranked beside functions.
        "is a class": -0.5,
        "is outside definitions": 1.5,
    }
)

AS_THEY_ARE = frozenset(
    {
        "length",
        "package or declaration file",
        "documentation, example, tool or copy",
        "not the project's language",
        "score of its file",
        "rank of its file",
        "class is named",
        "words, against its file",
        "words in its name, against its file",
    }
)


def equal(weights: Mapping[str, float]) -> dict[str, float]:
    """The same signals, each with weight 1 in its direction: what a careful choice has to beat."""
    return {name: 1.0 if value > 0 else -1.0 for name, value in weights.items()}
