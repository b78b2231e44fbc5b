"""When the candidates that are left need not be run. Pure.

Source: choosing.md §7: two lineages that made the same change, with the best evidence there can
be, are as good as the whole pool in all but 0.2 of a hundred cases.
"""

from collections.abc import Mapping

from pipeline.values import Ballot, Evidence


def settled(
    ballot: Ballot, evidence: Mapping[str, Evidence], *, has_suite: bool, remaining: int
) -> str:
    """Why the `remaining` candidates need not be run, "" when they do.

    Either two lineages agree and the winner passes every check there can be: the suite where
    there is one, and a reproduction that somebody else passes too. Or, counting plainly, the
    winner cannot be caught.
    """
    if remaining <= 0:
        return "no candidate is left"
    trust = ballot.confidence
    if ballot.winner is None or trust is None or ballot.tie:
        return ""
    lead = _lead(ballot)
    if ballot.vote == "majority" and lead > remaining:
        return f"the winner leads by {lead} votes and {remaining} are left"
    ran = evidence[ballot.winner].regression_ran
    if trust.lineages < 2 or not trust.tested or (has_suite and not ran):
        return ""
    return (
        f"{trust.agreeing} candidates of {trust.lineages} separate explanations made the same "
        "change, and no evidence for it is missing"
    )


def _lead(ballot: Ballot) -> int:
    """Votes of the first cluster over the largest other one, which may yet come to pass."""
    first, *others = ballot.clusters
    return first.votes - max((each.votes for each in others), default=0)
