"""What the reviewers reported, as text for the judge."""

from collections.abc import Iterable

from pipeline.model.verdicts import CompletenessVerdict, RiskVerdict
from pipeline.prompts.blocks import data_block

Review = CompletenessVerdict | RiskVerdict


def reviews_text(verdicts: Iterable[Review]) -> str:
    """Both reviews, one line per finding, as data."""
    lines: list[str] = []
    for verdict in verdicts:
        if isinstance(verdict, CompletenessVerdict):
            lines.append("Places the issue needs:")
            lines += [
                f"- {each.path} {each.symbol}: {each.why} "
                f"Covered by {_names(each.covered_by)}; missing in {_names(each.missing_in)}."
                for each in verdict.locations
            ]
        else:
            lines.append("Behaviour at risk:")
            lines += [
                f"- {each.candidate} ({each.severity}): {each.behaviour} "
                f"Seen at {_names(each.call_sites)}. A test: {each.revealing_test}"
                for each in verdict.risks
            ]
    return data_block("reviews", "\n".join(lines))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
