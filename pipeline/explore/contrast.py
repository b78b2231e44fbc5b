"""Does a new solution differ from the earlier ones? The rule, and the mechanical facts. Pure.

Source: Prism, global exploration (method.md §2.3.2): the strategy M must be different and at least
one of R, E, C with it. Near-duplicate strategies fail whatever the model says.
"""

import re
from collections.abc import Mapping, Sequence

from pipeline.model.verdicts import Contrast
from pipeline.values import Plan

NEAR_DUPLICATE = 0.8


def jaccard(left: frozenset[object], right: frozenset[object]) -> float:
    """Size of the intersection over the union; two empty sets are equal."""
    return len(left & right) / len(left | right) if left | right else 1.0


def edit_points(plan: Plan) -> frozenset[object]:
    """The (path, symbol) pairs a plan changes."""
    return frozenset((change.path, change.symbol) for change in plan.changes)


def strategy_similarity(left: Plan, right: Plan) -> float:
    """Token Jaccard of the two strategy texts, 0 to 1."""
    return jaccard(_tokens(left.solution.strategy), _tokens(right.solution.strategy))


def too_close(
    plan: Plan, earlier: Mapping[str, Plan], compared: Sequence[Contrast]
) -> tuple[str, ...]:
    """One sentence for each earlier solution that the new plan does not differ from enough.

    An earlier solution that the comparison leaves out is judged by the mechanical facts alone.
    """
    relations = {entry.earlier: entry for entry in compared}
    findings = []
    for name, other in earlier.items():
        if strategy_similarity(plan, other) >= NEAR_DUPLICATE:
            findings.append(f"The strategy repeats that of {name} almost word for word.")
            continue
        entry = relations.get(name)
        if entry is not None and not _differs(entry):
            findings.append(_explain(name, entry, jaccard(edit_points(plan), edit_points(other))))
    return tuple(findings)


def _differs(entry: Contrast) -> bool:
    others = (entry.root_cause, entry.expected_behaviour, entry.context)
    return entry.strategy == "different" and "different" in others


def _explain(name: str, entry: Contrast, overlap: float) -> str:
    shared = f"{overlap:.0%} of the edit points are shared"
    if entry.strategy != "different":
        return f"The strategy is the {entry.strategy} as that of {name} ({shared})."
    return f"Root cause, expected behaviour and context are all those of {name} ({shared})."


def _tokens(text: str) -> frozenset[object]:
    return frozenset(re.findall(r"\w+", text.lower()))
