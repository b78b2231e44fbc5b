"""Names like a name: trigrams, Jaro-Winkler and the longest common subsequence, weighed.

Source: SWE-Adept's fuzzy search (n-gram + Jaro-Winkler + LCS); its weights are unpublished, these
are ours (method.md §4.5). The single importer of rapidfuzz.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import JaroWinkler, LCSseq
from rapidfuzz.process import cdist, extract

TRIGRAMS = 0.4
JARO_WINKLER = 0.35
LCS = 0.25
CUT_OFF = 0.55
LONGEST = 120  # characters of a name that count


def trigrams(name: str) -> frozenset[str]:
    """All runs of three characters; a shorter name is one of its own."""
    return frozenset(name[at : at + 3] for at in range(max(1, len(name) - 2)))


class Fuzzy:
    """Lower-case names, prepared for many questions; 30,000 take 0.3 s, a question some 10 ms."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [name[:LONGEST] for name in names]
        found: dict[str, list[int]] = {}
        counts = np.zeros(len(self.names))
        for number, name in enumerate(self.names):
            own = trigrams(name)
            counts[number] = len(own)
            for gram in own:
                found.setdefault(gram, []).append(number)
        self._counts = counts
        self._lengths = np.array([max(1, len(name)) for name in self.names])
        self._having = {gram: np.array(numbers) for gram, numbers in found.items()}

    def best(self, name: str, limit: int) -> list[tuple[float, int]]:
        """(score, position) of the best names from the cut-off on, best first."""
        if not self.names or not name:
            return []
        asked = name.lower()[:LONGEST]
        jaccard = self._jaccard(asked)
        near = np.flatnonzero(TRIGRAMS * jaccard + self._most(len(asked)) >= CUT_OFF)
        names = [self.names[at] for at in near]
        if not names:
            return []
        alike = cdist([asked], names, scorer=JaroWinkler.normalized_similarity)
        common = cdist([asked], names, scorer=LCSseq.normalized_similarity)
        scores = TRIGRAMS * jaccard[near] + JARO_WINKLER * alike[0] + LCS * common[0]
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(float(scores[at]), int(near[at])) for at in order if scores[at] >= CUT_OFF]

    def _most(self, length: int) -> npt.NDArray[np.float64]:
        """What Jaro-Winkler and LCS can give at most, by the lengths alone: most names go here."""
        ratio = np.minimum(self._lengths, length) / np.maximum(self._lengths, length)
        jaro = (2 + ratio) / 3
        most: npt.NDArray[np.float64] = JARO_WINKLER * (jaro + 0.4 * (1 - jaro)) + LCS * ratio
        return most

    def _jaccard(self, asked: str) -> npt.NDArray[np.float64]:
        own = trigrams(asked)
        shared = np.zeros(len(self.names))
        for gram in own:
            shared[self._having.get(gram, [])] += 1
        jaccard: npt.NDArray[np.float64] = shared / (self._counts + len(own) - shared)
        return jaccard


def close_names(name: str, names: Sequence[str], limit: int = 5) -> list[str]:
    """Which of a few names somebody may have meant, best first."""
    return [found for found, _, _ in extract(name, names, limit=limit, score_cutoff=60)]
