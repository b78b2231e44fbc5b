"""The vote: candidates that made the same change stand together, evidence breaks ties. Pure.

Source: method.md §2.3.7 rules 4, 5 and 6. The same pool always gives the same ballot, in whatever
order it is given.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.choose.gate import counted, gate, natural
from pipeline.services import VoteRule
from pipeline.values import Ballot, Candidate, Cluster, Contest, Evidence, Reproduced

NOBODY = "No candidate passed the gate."


def cluster(
    candidates: Sequence[Candidate], evidence: Mapping[str, Evidence]
) -> tuple[tuple[str, ...], ...]:
    """Ids of candidates with the same key, each group and the groups in natural order.

    A candidate without a key (no patch, refused, does not apply) stands alone.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name in sorted({each.id for each in candidates}, key=natural):
        same = evidence[name].key if name in evidence else ""
        groups.setdefault((same, "" if same else name), []).append(name)
    return tuple(tuple(group) for group in groups.values())


def vote(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    reproductions: Sequence[Reproduced],
    *,
    has_suite: bool,
    require_tests: bool = False,
    rule: VoteRule = "soft",
    contest: Contest | None = None,
) -> Ballot:
    """Count every group, let only gated candidates win.

    One candidate is one vote. The group with the most votes wins; ties go to the group that
    passes more cross tests (reproductions of other authors), then one with a synthesis in it,
    then fewer changed lines, then the lowest id. The same rest picks the candidate in the group.
    Groups that are equal in votes and cross tests stand in `tie` until a `contest` between them
    is given; one that it leaves open too is decided by the rest.
    """
    gates = gate(
        candidates, evidence, reproductions, has_suite=has_suite, require_tests=require_tests
    )
    gated = {each.candidate for each in gates if each.ok}
    known = {each.id: evidence[each.id] for each in candidates if each.id in evidence}
    pool = _Pool({each.id: each for each in candidates}, known, counted(known, reproductions))
    groups = cluster(candidates, evidence)
    open_groups = sorted(
        (group for group in groups if gated & set(group)),
        key=lambda group: pool.group_rank(group, gated),
    )
    if not open_groups:
        return Ballot(_table(groups, gated, None), gates, None, NOBODY)
    tied = tuple(
        min(gated & set(group), key=pool.rank)
        for group in open_groups
        if pool.group_rank(group, gated)[:2] == pool.group_rank(open_groups[0], gated)[:2]
    )
    winner, said = tied[0], pool.why(open_groups, gated, len(candidates))
    chosen = leader(contest, tied)
    if chosen is not None:
        winner, said = chosen, f"{said.partition(',')[0]}; selectors that ran code chose it."
    first = next(group for group in open_groups if winner in group)
    open_tie = tied if len(tied) > 1 and contest is None else ()
    return Ballot(_table(groups, gated, first), gates, winner, said, open_tie)


def leader(contest: Contest | None, tied: Sequence[str]) -> str | None:
    """Who alone has the most valid votes of a contest, None when nobody has."""
    counts = (
        Counter(each.chosen for each in contest.votes if each.chosen in tied) if contest else {}
    )
    best = max(counts.values(), default=0)
    leaders = [name for name, votes in counts.items() if votes == best]
    return leaders[0] if len(leaders) == 1 else None


@dataclass(frozen=True, slots=True)
class _Pool:
    candidates: Mapping[str, Candidate]
    evidence: Mapping[str, Evidence]
    witnesses: tuple[Reproduced, ...]

    def cross_tests(self, name: str) -> int:
        """Counted reproductions of other authors that the candidate passes."""
        seen = self.evidence[name].reproductions
        return sum(
            seen.get(each.id) == "pass"
            for each in self.witnesses
            if each.reproduction.author != name
        )

    def rank(self, name: str) -> tuple[int, bool, int, tuple[int, tuple[int, ...], str]]:
        """Sort key of one candidate, best first."""
        return (
            -self.cross_tests(name),
            self.candidates[name].stage != "synthesis",
            self.evidence[name].changed_lines,
            natural(name),
        )

    def group_rank(
        self, group: Sequence[str], gated: set[str]
    ) -> tuple[int, int, bool, int, tuple[int, tuple[int, ...], str]]:
        """Sort key of one group, best first: votes and stages of all, the rest of gated members."""
        able = [name for name in group if name in gated]
        return (
            -len(group),
            -max(map(self.cross_tests, able)),
            all(self.candidates[name].stage != "synthesis" for name in group),
            min(self.evidence[name].changed_lines for name in able),
            min(map(natural, able)),
        )

    def why(self, groups: Sequence[Sequence[str]], gated: set[str], total: int) -> str:
        """In words, which step of the rule set the first group apart from the second."""
        votes = len(groups[0])
        said = f"{votes} of {total} candidates made the winning change"
        if len(groups) == 1:
            return f"{said}; it is the only group that passed the gate."
        first, second = (self.group_rank(group, gated) for group in groups[:2])
        steps = (
            f"{said}, the next group that passed the gate has {-second[0]}.",
            f"{said}, another group has as many; the winner passes more cross tests "
            f"({-first[1]} against {-second[1]}).",
            f"{said}, another group has as many and passes as many cross tests; the winner "
            "holds a synthesis.",
            f"{said}, another group has as many and is equal in evidence; the winner changes "
            f"fewer lines ({first[3]} against {second[3]}).",
            f"{said}, another group is equal in votes, evidence and size; the lowest id decides.",
        )
        return next(text for text, a, b in zip(steps, first, second, strict=True) if a != b)


def _table(
    groups: Sequence[tuple[str, ...]], gated: set[str], winner: tuple[str, ...] | None
) -> tuple[Cluster, ...]:
    """Winner first, then by votes, then groups that may win, then the lowest id."""

    def place(group: tuple[str, ...]) -> tuple[bool, int, bool, tuple[int, tuple[int, ...], str]]:
        return group != winner, -len(group), not gated & set(group), natural(group[0])

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
