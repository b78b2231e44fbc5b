"""One walk over the graph of names: who uses what an issue points at, and what that uses.

u → v when u names an identifier that v defines and at most six units define it. Without that
limit, and without damping what everybody uses, the walk ends in base classes and helpers.
Two sparse products, four times; sums over edge lists are fast enough without a graph library.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pipeline.index.rank.tokens import number

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MAX_DEFINITIONS = 6
SEEDS = 60
RESTART, FORWARD = 0.4, 0.7
ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Links:
    """Edges from `sources` to `targets`: `forward` shares of the source's weight, `back` of the
    target's."""

    sources: Ints
    targets: Ints
    forward: Floats
    back: Floats
    size: int


def links(
    used_units: Ints,
    used_ids: npt.NDArray[np.uint32],
    defined: Mapping[str, tuple[int, ...]],
    size: int,
) -> Links:
    """Edges of a commit from the identifiers each unit names; no unit points at itself."""
    few = {name: units for name, units in defined.items() if len(units) <= MAX_DEFINITIONS}
    ids = np.array([number("=" + name) for name in few], np.uint32)
    order = np.argsort(ids)
    counts = np.array([len(units) for units in few.values()], np.int64)
    starts = np.r_[0, np.cumsum(counts)]
    flat = np.array([unit for units in few.values() for unit in units], np.int64)
    if not len(ids) or not len(used_ids):
        none = np.zeros(0, np.int64)
        return Links(none, none, np.zeros(0), np.zeros(0), size)
    at = np.minimum(np.searchsorted(ids[order], used_ids), len(ids) - 1)
    known = ids[order][at] == used_ids
    group = order[at[known]]
    fan = counts[group]
    sources = np.repeat(used_units[known], fan)
    offsets = np.arange(fan.sum()) - np.repeat(np.cumsum(fan) - fan, fan)
    targets = flat[np.repeat(starts[group], fan) + offsets]
    weights = 1.0 / np.repeat(fan, fan)
    kept = sources != targets
    sources, targets, weights = sources[kept], targets[kept], weights[kept]
    weights /= np.sqrt(1.0 + np.bincount(targets, minlength=size))[targets]
    return Links(
        sources,
        targets,
        weights / np.bincount(sources, weights, minlength=size)[sources],
        weights / np.bincount(targets, weights, minlength=size)[targets],
        size,
    )


def walk(graph: Links, seeds: Floats) -> tuple[Floats, Floats]:
    """Where weight comes to rest, and what of it came over edges, for each unit.

    Only the 60 best seeds are used, squared, so that many weak hits do not drown a few good ones.
    """
    kept = np.zeros(graph.size)
    best = np.argsort(-seeds, kind="stable")[:SEEDS]
    kept[best] = np.square(np.maximum(seeds[best], 0))
    if not kept.sum():
        return kept, kept
    start = kept / kept.sum()
    at = start
    for _ in range(ROUNDS):
        down = np.bincount(graph.targets, at[graph.sources] * graph.forward, minlength=graph.size)
        up = np.bincount(graph.sources, at[graph.targets] * graph.back, minlength=graph.size)
        at = RESTART * start + (1 - RESTART) * (FORWARD * down + (1 - FORWARD) * up)
    return at, np.maximum(at - RESTART * start, 0)
