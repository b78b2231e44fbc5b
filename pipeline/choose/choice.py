"""What a choice was made of, in numbers: kept until people have said what they make of it. Pure.

Source: choosing.md §9, "record per decision". There is no text of the repository in it.
"""

from dataclasses import dataclass

from pipeline.choose.kernel import parts, soft_scores
from pipeline.choose.lineage import lineages
from pipeline.choose.order import natural
from pipeline.values import Confidence, Decision


@dataclass(frozen=True, slots=True)
class Near:
    """How near a patch is to all other valid ones, 0 to 1, each mean weighted as in the vote.

    What is not known of definitions counts as nothing in common.
    """

    edit: float
    symbols: float
    files: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The winner's confidence, the sizes of all groups (its own first), and how near it was.

    `runner_up` is the nearest patch that makes another change, None when there is none.
    """

    confidence: Confidence
    groups: tuple[int, ...]
    winner: Near
    runner_up: Near | None


def choice_of(decision: Decision) -> Choice | None:
    """The numbers of a decision; None when nothing was chosen."""
    ballot = decision.ballot
    if ballot.winner is None or ballot.confidence is None:
        return None
    near = _near(decision)
    key = decision.evidence[ballot.winner].key
    others = [name for name in near if decision.evidence[name].key != key]
    others.sort(key=lambda name: (-ballot.scores.get(name, 0.0), natural(name)))
    return Choice(
        ballot.confidence,
        tuple(group.votes for group in ballot.clusters),
        near[ballot.winner],
        near[others[0]] if others else None,
    )


def _near(decision: Decision) -> dict[str, Near]:
    """By the name of each valid candidate: those that the ballot has a score of."""
    edits = {name: decision.evidence[name].edit for name in sorted(decision.ballot.scores)}
    owned = lineages(decision.candidates)

    def means(part: int) -> dict[str, float]:
        return soft_scores(tuple(edits), lambda a, b: parts(edits[a], edits[b])[part] or 0.0, owned)

    by_part = [means(part) for part in range(3)]
    return {name: Near(*(round(each[name], 6) for each in by_part)) for name in edits}
