"""When the candidates that are left need not be run. Pure.

Source: choosing.md §7: two lineages that made the same change, with the best evidence there can
be, are as good as the whole pool in all but 0.2 of a hundred cases.
"""

from collections.abc import Mapping, Sequence

from pipeline.choose.gate import counted
from pipeline.choose.vote import Rule, vote
from pipeline.values import Ballot, Candidate, Evidence, Reproduced


def settled(
    candidates: Sequence[Candidate],
    evidence: Mapping[str, Evidence],
    reproductions: Sequence[Reproduced],
    *,
    has_suite: bool,
    remaining: int,
    require_tests: bool = False,
    rule: Rule = "soft",
) -> str:
    """Why the `remaining` candidates need not be run, "" when they do.

    Either two lineages agree and the winner passes every check there can be: the suite where
    there is one, and a reproduction that somebody else passes too. Or, counting plainly, the
    winner cannot be caught.
    """
    if remaining <= 0:
        return "no candidate is left"
    ballot = vote(
        candidates,
        evidence,
        reproductions,
        has_suite=has_suite,
        require_tests=require_tests,
        rule=rule,
    )
    if ballot.winner is None or ballot.confidence is None or ballot.tie:
        return ""
    lead = _lead(ballot)
    if rule == "majority" and lead > remaining:
        return f"the winner leads by {lead} votes and {remaining} are left"
    seen = evidence[ballot.winner]
    witnesses = counted(evidence, reproductions)
    tests = sum(seen.reproductions.get(each.id) == "pass" for each in witnesses)
    if ballot.confidence.lineages < 2 or not tests or (has_suite and not seen.regression_ran):
        return ""
    return (
        f"{ballot.confidence.agreeing} candidates of {ballot.confidence.lineages} separate "
        "explanations made the same change, and no evidence for it is missing"
    )


def _lead(ballot: Ballot) -> int:
    """Votes of the first cluster over the largest other one, which may yet come to pass."""
    first, *others = ballot.clusters
    return first.votes - max((each.votes for each in others), default=0)
