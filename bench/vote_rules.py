"""Ways of choosing one patch of a pool, ties by expectation: each gives the chance of each number.

Every rule sees the same valid candidates; the product's is `soft`, from its own functions.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.vote_pool import Instance, Voter
from pipeline.choose.kernel import similarity, soft_scores

Chances = dict[int, float]
Rule = Callable[["Pool", Sequence[Voter]], Chances]


@dataclass(slots=True)
class Pool:
    """An instance with what was compared once, kept for all draws. `letters` rename sources."""

    instance: Instance
    letters: Mapping[int, str] = field(default_factory=dict)
    kept: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def valid(self, numbers: Iterable[int]) -> list[Voter]:
        """The valid ones of some candidates, by number."""
        known = self.instance.voters
        return [known[number] for number in sorted(numbers) if known[number].valid]

    def lineage(self, voter: Voter) -> tuple[str, ...]:
        """Where a candidate comes from."""
        return (self.letters.get(voter.number, voter.source),)

    def alike(self, kind: str, one: int, other: int) -> float:
        """A similarity of two candidates, computed once."""
        key = (kind, min(one, other), max(one, other))
        if key not in self.kept:
            a, b = (self.instance.voters[number] for number in key[1:])
            self.kept[key] = (
                similarity(a.edit, b.edit) if kind == "edit" else _jaccard(a.tokens, b.tokens)
            )
        return self.kept[key]


def soft(pool: Pool, voters: Sequence[Voter]) -> Chances:
    """The product's vote."""
    return best(scores(pool, voters))


def scores(pool: Pool, voters: Sequence[Voter]) -> dict[int, float]:
    """The product's score of each candidate."""
    found = soft_scores(
        [str(each.number) for each in voters],
        lambda a, b: pool.alike("edit", int(a), int(b)),
        {str(each.number): pool.lineage(each) for each in voters},
    )
    return {int(name): score for name, score in found.items()}


def majority(name: Callable[[Voter], str]) -> Rule:
    """The largest group of the same name; any of its members."""

    def rule(pool: Pool, voters: Sequence[Voter]) -> Chances:
        sizes = Counter(map(name, voters))
        return best({each.number: sizes[name(each)] for each in voters})

    return rule


def medoid(pool: Pool, voters: Sequence[Voter]) -> Chances:
    """The candidate whose tokens are nearest to those of all others."""
    return best(
        {
            each.number: sum(
                pool.alike("tokens", each.number, other.number)
                for other in voters
                if other is not each
            )
            for each in voters
        }
    )


def files_then_medoid(pool: Pool, voters: Sequence[Voter]) -> Chances:
    """The largest group of the same files, then the medoid in it; ties between groups by share."""
    groups: dict[tuple[str, ...], list[Voter]] = {}
    for each in voters:
        groups.setdefault(each.edit.files, []).append(each)
    most = max(map(len, groups.values()), default=0)
    chosen = [group for group in groups.values() if len(group) == most]
    found: Chances = {}
    for group in chosen:
        for number, chance in medoid(pool, group).items():
            found[number] = chance / len(chosen)
    return found


def anyone(pool: Pool, voters: Sequence[Voter]) -> Chances:
    """A valid candidate at random."""
    return {each.number: 1 / len(voters) for each in voters}


RULES: Mapping[str, Rule] = {
    "prism": soft,
    "random_static": anyone,
    "majority_ast": majority(lambda each: each.ast),
    "majority_key": majority(lambda each: each.edit.key),
    "majority_text": majority(lambda each: each.text),
    "trae_text": majority(lambda each: each.trae),
    "medoid": medoid,
    "files_medoid": files_then_medoid,
}


def best(values: Mapping[int, float]) -> Chances:
    """The same chance for all that are highest."""
    top = max((round(value, 9) for value in values.values()), default=0)
    chosen = [number for number, value in values.items() if round(value, 9) == top]
    return {number: 1 / len(chosen) for number in chosen}


def right(instance: Instance, chances: Chances) -> float:
    """How likely a choice resolves the issue, 0 when nothing was chosen."""
    return sum(chance for number, chance in chances.items() if number in instance.resolved)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
