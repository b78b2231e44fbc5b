"""How sure a choice is, in words: a band, and a percentage once outcomes tell one."""

from app.messages.view import count
from pipeline.values import Confidence, Decision


def confidence(decision: Decision) -> str:
    """The band with the counts it comes from, in Markdown; "" without a winner."""
    sure = decision.ballot.confidence
    if sure is None or not decision.ballot.winner:
        return ""
    same = count(sure.agreeing, "candidate")
    apart = count(sure.lineages, "separate explanation")
    return (
        f"**Confidence: {how_sure(sure)}.** The winning change is that of {same}, from {apart}; "
        f"{sure.valid} of {count(sure.total, 'candidate')} apply, parse and change something."
    )


def how_sure(sure: Confidence) -> str:
    """The band, and the share of such choices that people merged as they were, once known.

    A percentage appears only once it is calibrated on the installation's own outcomes.
    """
    if sure.probability is None:
        return sure.band
    percent = min(99, max(1, round(100 * sure.probability)))
    made_of = f"this installation's last {sure.outcomes} pull requests"
    return f"{sure.band}, about {percent} % by {made_of}"
