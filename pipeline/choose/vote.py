"""The vote: among candidates that passed the gate, the one that the pool's agreement speaks for.

Source: method.md §2.3.7 rules 4 to 7; choosing.md §9. Evidence comes first: only the gated win.
"soft" then takes the highest score, the weighted mean similarity to all other patches; "majority"
the largest cluster, the paper's plain count. What both leave in a tie is for a contest. Pure: the
same pool always gives the same ballot, in whatever order it is given.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pipeline.choose.calibration import Calibration
from pipeline.choose.cluster import cluster
from pipeline.choose.confidence import confidence
from pipeline.choose.gate import counted, gate
from pipeline.choose.lineage import lineages
from pipeline.choose.order import Place, natural
from pipeline.choose.pool import Pool
from pipeline.choose.reasons import majority_rule, soft_rule
from pipeline.values import (
    Ballot,
    Candidate,
    Cluster,
    Confidence,
    Contest,
    Evidence,
    Reproduced,
    VoteRule,
)

NOBODY = "No candidate passed the gate."


def vote(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    reproductions: Sequence[Reproduced],
    *,
    has_suite: bool,
    require_tests: bool = False,
    rule: VoteRule = "soft",
    contest: Contest | None = None,
    table: Calibration | None = None,
) -> Ballot:
    """Count every cluster, let only gated candidates win.

    Printed votes are plain counts: one candidate, one vote. Ties of score or votes go to the one
    that passes more cross tests (reproductions of other authors); what is left is the ballot's
    `tie`, which `contest` decides. Without a contest, or one without a valid vote: a synthesis,
    fewer changed lines, the lowest id. `table` is a calibration on own outcomes.
    """
    gates = gate(
        candidates, evidence, reproductions, has_suite=has_suite, require_tests=require_tests
    )
    gated = frozenset(each.candidate for each in gates if each.ok)
    pool = _pool(candidates, evidence, reproductions, gated)
    ballot = Ballot(
        _table(pool.clusters, gated, None), gates, None, NOBODY, scores=pool.scores, vote=rule
    )
    if not gated:
        return ballot
    winner, said, tie = _majority(pool) if rule == "majority" else _soft(pool)
    if tie and contest is not None:
        winner, said, tie = _decided(tie, contest, winner, said)
    first = next(group for group in pool.clusters if winner in group)
    return replace(
        ballot,
        clusters=_table(pool.clusters, gated, first),
        winner=winner,
        rule=said,
        tie=tie,
        confidence=_confidence(pool, winner, table),
    )


def _pool(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    reproductions: Sequence[Reproduced],
    gated: frozenset[str],
) -> Pool:
    ordered = sorted({each.id: each for each in candidates}.values(), key=lambda x: natural(x.id))
    known = {each.id: evidence[each.id] for each in ordered if each.id in evidence}
    witnesses = counted(known, reproductions)
    return Pool(
        candidates={each.id: each for each in ordered},
        evidence=known,
        witnesses=witnesses,
        gated=gated,
        clusters=cluster(ordered, known, witnesses),
        lineages=lineages(ordered),
    )


def _soft(pool: Pool) -> tuple[str, str, tuple[str, ...]]:
    """Winner, rule in words, tie: the highest score, of different changes only."""
    order = sorted(pool.gated, key=pool.soft_rank)
    changes: dict[str, str] = {}
    for name in order:
        changes.setdefault(pool.evidence[name].key or name, name)
    best = list(changes.values())
    top = pool.soft_rank(best[0])[:2]
    tie = tuple(name for name in best if pool.soft_rank(name)[:2] == top)
    return best[0], soft_rule(pool, best), tie if len(tie) > 1 else ()


def _majority(pool: Pool) -> tuple[str, str, tuple[str, ...]]:
    """Winner, rule in words, tie: the largest cluster, in it the largest group of one change."""
    groups = sorted(pool.open_clusters, key=pool.cluster_rank)
    top = pool.cluster_rank(groups[0])[:2]
    equal = [group for group in groups if pool.cluster_rank(group)[:2] == top]
    best = tuple(min(pool.gated & set(group), key=pool.rank_inside) for group in equal)
    return best[0], majority_rule(pool, groups), best if len(best) > 1 else ()


def _decided(
    tie: tuple[str, ...], contest: Contest, winner: str, said: str
) -> tuple[str, str, tuple[str, ...]]:
    """What a contest makes of a tie; the first in the tie's order when it is one again."""
    votes = Counter(each.chosen for each in contest.votes if each.chosen in tie)
    if not votes:
        return winner, f"{said} The contest gave no valid vote.", ()
    most = max(votes.values())
    chosen = next(name for name in tie if votes[name] == most)
    again = sum(count == most for count in votes.values()) > 1
    why = f"Evidence and vote left a tie between {', '.join(sorted(tie, key=natural))}; "
    how = f"{most} of {len(contest.votes)} selectors chose {chosen}"
    return chosen, f"{why}{how}{', as many as another one' if again else ''}.", ()


def _confidence(pool: Pool, winner: str, table: Calibration | None) -> Confidence:
    seen = pool.evidence[winner]
    return confidence(
        [name for name, other in pool.evidence.items() if other.key == seen.key],
        pool.lineages,
        valid=len(pool.valid),
        total=len(pool.candidates),
        tested=any(seen.reproductions.get(each.id) == "pass" for each in pool.witnesses),
        table=table,
    )


def _table(
    groups: Iterable[tuple[str, ...]], gated: frozenset[str], winner: tuple[str, ...] | None
) -> tuple[Cluster, ...]:
    """Winner first, then by votes, then groups that may win, then the lowest id."""

    def place(group: tuple[str, ...]) -> tuple[bool, int, bool, Place]:
        return group != winner, -len(group), gated.isdisjoint(group), natural(group[0])

    return tuple(
        Cluster(_label(number), group, len(group), tuple(n for n in group if n in gated))
        for number, group in enumerate(sorted(groups, key=place))
    )


def _label(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    label = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        label = chr(ord("A") + rest) + label
    return label
