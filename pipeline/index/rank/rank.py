"""Files and functions of a commit, ranked for an issue, each with what it was ranked by."""

from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt

from pipeline.index.rank import weights
from pipeline.index.rank.arrays import CLASS, FUNCTION, MODULE, Arrays
from pipeline.index.rank.mentions import mentions
from pipeline.index.rank.prepare import Prepared, prepared
from pipeline.index.rank.signals import Signals, signals
from pipeline.index.store import Index
from pipeline.index.values import Ranking, Scored

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FILES = 100  # that a ranking names
FUNCTIONS = 200
UNIT_FILES = 20  # files whose functions are ranked


def rank(index: Index, title: str, body: str) -> Ranking:
    """Rank the files and functions of an opened commit; tests and chunks are left out.

    The first call for a commit lays out its arrays (about a second on a large repository), later
    ones take about a tenth of that. Blocks; pure apart from what it keeps in the store.
    """
    return rank_prepared(prepared(index), title, body)


def rank_prepared(commit: Prepared, title: str, body: str) -> Ranking:
    """Rank what was prepared before; see `rank`."""
    return fuse(commit.arrays, measure(commit, title, body), weights.FILE, weights.UNIT)


def measure(commit: Prepared, title: str, body: str) -> Signals:
    """All signals of an issue, before any weight."""
    return signals(commit.arrays, commit.history, mentions(title, body), title)


def fuse(
    arrays: Arrays,
    measured: Signals,
    file_weights: Mapping[str, float],
    unit_weights: Mapping[str, float],
    kinds: Collection[int] = (FUNCTION,),
) -> Ranking:
    """Add up weight × value; a signal without a weight does not count.

    `kinds` are those of the units that are ranked: functions, unless a measure asks for classes
    and for what stands outside definitions too.
    """
    if not arrays.paths:
        return Ranking((), (), 0.0)
    by_file = _parts(measured.file, file_weights)
    scores = _sum(by_file, len(arrays.paths))
    order = np.argsort(-scores, kind="stable")
    units, by_unit = _units(arrays, measured.unit, unit_weights, scores, order, kinds)
    unit_scores = _sum(by_unit, len(units))
    best = np.argsort(-unit_scores, kind="stable")[:FUNCTIONS]
    return Ranking(
        tuple(_scored(arrays.paths[at], at, scores, by_file) for at in order[:FILES]),
        tuple(_scored(arrays.unit_id(int(units[at])), at, unit_scores, by_unit) for at in best),
        _confidence(scores),
    )


def _units(
    arrays: Arrays,
    values: Mapping[str, Floats],
    unit_weights: Mapping[str, float],
    scores: Floats,
    order: Ints,
    kinds: Collection[int],
) -> tuple[Ints, dict[str, Floats]]:
    """The units of the best files, and the parts of their scores."""
    files = order[:UNIT_FILES]
    place = np.zeros(len(arrays.paths))
    place[files] = 1 / np.arange(1, len(files) + 1)
    inside = (place[arrays.file_of] > 0) & np.isin(arrays.kinds, list(kinds))
    units = np.flatnonzero(inside)
    chosen = {name: each[units] for name, each in values.items()}
    chosen["score of its file"] = (scores - scores.max())[arrays.file_of[units]]
    chosen["rank of its file"] = place[arrays.file_of[units]]
    chosen["is a class"] = (arrays.kinds[units] == CLASS).astype(np.float64)
    chosen["is outside definitions"] = (arrays.kinds[units] == MODULE).astype(np.float64)
    return units, _parts(chosen, unit_weights)


def _parts(values: Mapping[str, Floats], by_name: Mapping[str, float]) -> dict[str, Floats]:
    parts = {}
    for name, each in values.items():
        if weight := by_name.get(name, 0.0):
            greatest = each.max(initial=0.0)
            scale = 1.0 if name in weights.AS_THEY_ARE or greatest <= 0 else greatest
            parts[name] = each * (weight / scale)
    return parts


def _sum(parts: Mapping[str, Floats], size: int) -> Floats:
    total = np.zeros(size)
    for each in parts.values():
        total += each
    return total


def _scored(name: str, at: int, scores: Floats, parts: Mapping[str, Floats]) -> Scored:
    shown = {name: round(float(each[at]), 3) for name, each in parts.items() if each[at]}
    ordered = dict(sorted(shown.items(), key=lambda part: -abs(part[1])))
    return Scored(name, float(scores[at]), ordered)


def _confidence(scores: Floats) -> float:
    """How much of the softmax the first file has: under 0.3 it is right in one case of three."""
    return float(1 / np.exp(scores - scores.max()).sum())
