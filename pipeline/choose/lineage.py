"""Where candidates come from: whose agreement is independent and whose is not. Pure.

Source: choosing.md §9: a lineage is the nearest independent decision, a contrast path or a first
branch. A synthesis has the lineages of its parents, a part of each.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from pipeline.choose.kernel import shares_of
from pipeline.values import Candidate


def lineages(candidates: Sequence[Candidate]) -> dict[str, tuple[str, ...]]:
    """The lineages of each candidate, sorted, by its id.

    A global candidate is its own. The branches of one plan share that of the first, because the
    second saw the first. A synthesis takes part in those of its parents; one whose parents are
    unknown is its own.
    """
    known = {each.id: each for each in candidates}
    return {name: _of(known[name], known, frozenset()) for name in known}


def _of(
    candidate: Candidate, known: Mapping[str, Candidate], above: frozenset[str]
) -> tuple[str, ...]:
    if candidate.stage == "local" and "." in candidate.id:
        return (f"{candidate.id.rpartition('.')[0]}.1",)
    if candidate.stage != "synthesis" or not candidate.parents:
        return (candidate.id,)
    found: set[str] = set()
    for name in candidate.parents:
        parent = known.get(name)
        if parent is not None and name not in above:
            found.update(_of(parent, known, above | {candidate.id}))
        else:
            found.add(f"{name.rpartition('.')[0]}.1" if "." in name else name)
    return tuple(sorted(found))


def effective(members: Iterable[Sequence[str]]) -> float:
    """Σ over lineages of √members, for the lineages of each candidate that agrees (eff).

    A candidate of several lineages counts in each for its share, so nobody counts more than once.
    """
    shares = [shares_of(owned) for owned in members]
    sizes = Counter(name for each in shares for name in each)
    weight = {name: sum(each.get(name, 0.0) for each in shares) for name in sorted(sizes)}
    return sum(weight[name] / sqrt(sizes[name]) for name in weight)


def independent(members: Iterable[Sequence[str]]) -> int:
    """How many lineages agree, each spoken for by a candidate of its own.

    A synthesis of two parents speaks for one of them, so it never counts as two.
    """
    speaker: dict[str, int] = {}
    owned = [tuple(each) for each in members]

    def speaks(number: int, asked: set[str]) -> bool:
        for name in owned[number]:
            if name in asked:
                continue
            asked.add(name)
            if name not in speaker or speaks(speaker[name], asked):
                speaker[name] = number
                return True
        return False

    return sum(speaks(number, set()) for number in range(len(owned)))
