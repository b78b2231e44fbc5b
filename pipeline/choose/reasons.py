"""What decided a vote, in a sentence with counts that a reader can check. Pure."""

from collections.abc import Sequence

from pipeline.choose.pool import Pool

_REST = (
    "the winner holds a synthesis",
    "the winner changes fewer lines ({0} against {1})",
    "the lowest id decides",
)


def soft_rule(pool: Pool, best: Sequence[str]) -> str:
    """Which step set the winner apart; `best` holds the best of each change, in order."""
    first = best[0]
    same = pool.sizes[pool.evidence[first].key]
    said = f"{same} of {len(pool.candidates)} candidates made exactly the winning change"
    if len(best) == 1:
        return f"{said}; it is the only group that passed the gate."
    one, two = pool.soft_rank(first), pool.soft_rank(best[1])
    if one[0] != two[0]:
        return (
            f"{said}; of {len(best)} changes that passed the gate it agrees most with the whole "
            f"pool ({-one[0]:.2f} against {-two[0]:.2f} for {best[1]})."
        )
    if one[1] != two[1]:
        return f"{said}; another change agrees as much, {_cross(-one[1], -two[1])}."
    return f"{said}; another change is equal in agreement and evidence; {_rest(one[2], two[2])}."


def majority_rule(pool: Pool, groups: Sequence[Sequence[str]]) -> str:
    """Which step set the first cluster apart from the second."""
    votes = len(groups[0])
    said = f"{votes} of {len(pool.candidates)} candidates stand in the winning group"
    if len(groups) == 1:
        return f"{said}; it is the only group that passed the gate."
    one, two = (pool.cluster_rank(group) for group in groups[:2])
    if one[0] != two[0]:
        return f"{said}, the next group that passed the gate has {-two[0]}."
    if one[1] != two[1]:
        return f"{said}, another group has as many, {_cross(-one[1], -two[1])}."
    return f"{said}, another group is equal in votes and evidence; {_rest(one[2:], two[2:])}."


def _cross(first: int, second: int) -> str:
    return f"the winner passes more cross tests ({first} against {second})"


def _rest(first: Sequence[object], second: Sequence[object]) -> str:
    return next(
        text.format(a, b) for text, a, b in zip(_REST, first, second, strict=True) if a != b
    )
