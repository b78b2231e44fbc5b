"""How near patches are to each other, and the vote that follows from it. Pure.

Source: choosing.md §9 (k, w, score): agreement in part (same files, same definitions, much of the
same edit) is a part of a vote, and agreement with one's own kind counts half.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from pipeline.values import Edit

SAME_LINEAGE = 0.5  # β: what the agreement of two candidates of one lineage is worth

Shares = Mapping[str, float]
Alike = Callable[[str, str], float]


def similarity(one: Edit, other: Edit) -> float:
    """From 0 to 1: the mean of what two patches share of their edit, definitions and files.

    Equal keys are 1. What is not known of one of them (no definition of its language can be read)
    does not take part in the mean.
    """
    known = [part for part in parts(one, other) if part is not None]
    return sum(known) / len(known)


def parts(one: Edit, other: Edit) -> tuple[float, float | None, float]:
    """What two patches share of their edit, of their definitions (None: not known), of files."""
    if one.key == other.key:
        same = 1.0 if one.key else 0.0
        return same, same, same
    return (
        _shared_counts(dict(one.pieces), dict(other.pieces)),
        _shared(set(one.symbols), set(other.symbols)) if one.symbols and other.symbols else None,
        _shared(set(one.files), set(other.files)),
    )


def soft_scores(
    names: Sequence[str], alike: Alike, lineages: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Each candidate's weighted mean similarity to all others, 0 for one alone.

    `alike(a, b)` is symmetric. `lineages` are as `lineages` of `pipeline.choose.lineage` gives
    them; a candidate that is not in it is of its own.
    """
    shares = {name: shares_of(lineages.get(name, (name,))) for name in names}
    total = dict.fromkeys(names, 0.0)
    weights = dict.fromkeys(names, 0.0)
    for at, one in enumerate(names):
        for other in names[at + 1 :]:
            weight = 1 - (1 - SAME_LINEAGE) * common(shares[one], shares[other])
            value = weight * alike(one, other)
            for name in (one, other):
                total[name] += value
                weights[name] += weight
    return {name: total[name] / weights[name] if weights[name] else 0.0 for name in names}


def shares_of(lineages: Sequence[str]) -> dict[str, float]:
    """How much of a candidate each lineage has: all of them the same."""
    return {name: 1 / len(lineages) for name in lineages}


def common(one: Shares, other: Shares) -> float:
    """How much two candidates have of the same lineages, 0 to 1."""
    return sum(min(share, other[name]) for name, share in one.items() if name in other)


def _shared(one: Collection[str], other: Collection[str]) -> float:
    union = len({*one, *other})
    return len(set(one) & set(other)) / union if union else 0.0


def _shared_counts(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    both = sum(min(count, other.get(piece, 0)) for piece, count in one.items())
    union = sum(one.values()) + sum(other.values()) - both
    return both / union if union else 0.0
