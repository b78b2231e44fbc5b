"""Counting selectors' votes, and the labels under which they see candidates. Pure.

Source: method.md §2.3.7 rule 7: at most five independent votes, anonymous shuffled labels, the end
when the lead is larger than what remains.
"""

import random
from collections import Counter
from collections.abc import Collection, Sequence

from pipeline.choose.order import natural
from pipeline.values import ContestVote

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def labelled(names: Collection[str], run: str, number: int) -> dict[str, str]:
    """Candidates by label for one vote, in an order that nothing but run and number decides.

    Each vote has its own order, so that a liking for the first label cancels out.
    """
    order = sorted(names, key=natural)
    random.Random(f"{run}/{number}").shuffle(order)
    return dict(zip(LABELS, order, strict=False))


def is_decided(votes: Sequence[ContestVote], most: int) -> bool:
    """Whether further votes, `most` in all, could not change who leads; dropped ones are spent."""
    counts = Counter(vote.chosen for vote in votes if vote.chosen).most_common(2)
    remaining = most - len(votes)
    if not counts:
        return remaining <= 0
    second = counts[1][1] if len(counts) > 1 else 0
    return remaining <= 0 or counts[0][1] - second > remaining
