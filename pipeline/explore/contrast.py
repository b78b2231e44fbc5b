"""Does a new solution differ from the earlier ones? The rule, and the mechanical facts. Pure.

Source: Prism, global exploration (method.md §2.3.2). The paper asks for all four of ⟨R, E, M, C⟩;
the authors' code for one of them. By default the strategy M must be different and one of R, E, C
with it, since many bugs have one true cause. Near-duplicate strategies fail in any case.
"""

import re
from collections.abc import Mapping, Sequence

from pipeline.model.verdicts import Contrast
from pipeline.services import ContrastRule
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
    plan: Plan,
    earlier: Mapping[str, Plan],
    compared: Sequence[Contrast],
    rule: ContrastRule = "major",
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
        if entry is not None and not _differs(entry, rule):
            findings.append(_explain(name, entry, jaccard(edit_points(plan), edit_points(other))))
    return tuple(findings)


def facts(plan: Plan, earlier: Mapping[str, Plan], compared: Sequence[Contrast]) -> tuple[str, ...]:
    """For the record, one sentence for each earlier solution: relations and mechanical facts."""
    relations = {entry.earlier: entry for entry in compared}
    return tuple(
        f"Against {name}: {_relations(relations.get(name))}; "
        f"{jaccard(edit_points(plan), edit_points(other)):.0%} of the edit points are shared, "
        f"{strategy_similarity(plan, other):.0%} of the strategies' words."
        for name, other in earlier.items()
    )


def _relations(entry: Contrast | None) -> str:
    if entry is None:
        return "not compared"
    return ", ".join(f"{words} {found}" for words, found in _dimensions(entry).items())


def _dimensions(entry: Contrast) -> dict[str, str]:
    return {
        "root cause": entry.root_cause,
        "expected behaviour": entry.expected_behaviour,
        "strategy": entry.strategy,
        "context": entry.context,
    }


def _differs(entry: Contrast, rule: ContrastRule) -> bool:
    others = (entry.root_cause, entry.expected_behaviour, entry.context)
    enough = all if rule == "all4" else any
    return entry.strategy == "different" and enough(each == "different" for each in others)


def _explain(name: str, entry: Contrast, overlap: float) -> str:
    shared = f"{overlap:.0%} of the edit points are shared"
    alike = [words for words, found in _dimensions(entry).items() if found != "different"]
    if entry.strategy == "refines":
        return f"The strategy only refines that of {name} ({shared})."
    if entry.strategy == "same":
        return f"The strategy is that of {name} ({shared})."
    return f"Not different from {name}: {', '.join(alike)} ({shared})."


def _tokens(text: str) -> frozenset[object]:
    return frozenset(re.findall(r"\w+", text.lower()))
