"""The single verdicts of a scripted run, derived from its candidates. Pure."""

from dataclasses import asdict
from typing import Any

from emulator.model.script import Script
from emulator.model.scripted import Block, ScriptedCandidate, ScriptedRun, call

Json = Any


def plan_fields(candidate: ScriptedCandidate) -> dict[str, Json]:
    """A candidate's plan as submit_plan and the judge take it."""
    return {
        "summary": candidate.summary,
        **_tuple_fields(candidate),
        "changes": [asdict(change) for change in candidate.changes],
        "tests": list(candidate.tests),
        "risks": list(candidate.risks),
    }


def explored_answers(candidate: ScriptedCandidate, run: ScriptedRun, last: int) -> Script:
    """Verdicts around one planner; `last` is the index of a global planner's last step."""
    stage = "global" if candidate.id.startswith("G") else "local"
    at = f"{stage}/{candidate.id}"
    if stage == "local":
        order = [*range(last - 1, -1, -1), last]
        return {
            f"{at}/rank": _answer(order=order),
            f"{at}/guide": _local_guide(candidate, run),
        }
    earlier = _earlier(candidate, run)
    if not earlier:
        return {}
    return {
        f"{at}/guide": _guide(candidate, earlier),
        f"{at}/contrast": _contrast(candidate, earlier),
    }


def synthesis_answers(candidate: ScriptedCandidate, run: ScriptedRun) -> Script:
    """completeness, risk and judge of one integrated plan; its spine is the G of its number."""
    at, pool = f"synthesis/{candidate.id}", _pool(run)
    places = _places(pool)
    spine = f"G{candidate.id[1:]}"
    gaps = [place for place in places if spine in place["missing_in"]]
    risks = [
        {
            "candidate": other.id,
            "behaviour": risk,
            "call_sites": [f"{place.path}:{place.symbol}" for place in other.context],
            "severity": "medium",
            "revealing_test": f"A test of today's behaviour: {risk}",
        }
        for other in pool
        for risk in other.risks
    ]
    return {
        f"{at}/completeness": _answer(locations=places),
        f"{at}/risk": _answer(risks=risks),
        f"{at}/judge": _judge(candidate, pool, spine, gaps),
    }


def exclusions(run: ScriptedRun) -> list[Block]:
    """The Test agent's answer."""
    return _answer(exclusions=[asdict(entry) for entry in run.exclusions])


def _answer(**fields: Json) -> list[Block]:
    return [call("answer", **fields)]


def _tuple_fields(candidate: ScriptedCandidate) -> dict[str, Json]:
    return {
        "root_cause": candidate.root_cause,
        "expected_behaviour": candidate.expected_behaviour,
        "strategy": candidate.strategy,
        "context": [asdict(place) for place in candidate.context],
    }


def _pool(run: ScriptedRun) -> list[ScriptedCandidate]:
    return [candidate for candidate in run.candidates if not candidate.id.startswith("S")]


def _earlier(candidate: ScriptedCandidate, run: ScriptedRun) -> list[ScriptedCandidate]:
    mine = int(candidate.id[1:])
    found = [c for c in run.candidates if c.id.startswith("G") and int(c.id[1:]) < mine]
    return sorted(found, key=lambda c: int(c.id[1:]))


def _edit_points(candidate: ScriptedCandidate) -> str:
    return ", ".join(f"{change.path}:{change.symbol}" for change in candidate.changes)


def _guide(candidate: ScriptedCandidate, earlier: list[ScriptedCandidate]) -> list[Block]:
    views = [
        {
            "id": other.id,
            "worldview": f"{other.root_cause} {other.expected_behaviour}",
            "evidence": "; ".join(place.why or place.path for place in other.context),
            "edit_points": _edit_points(other),
            "strategy": other.strategy,
            "assumptions": f"That {other.root_cause}",
        }
        for other in earlier
    ]
    default = f"Suppose another cause: {candidate.root_cause} Then {candidate.expected_behaviour}"
    return _answer(
        earlier=views,
        guide=candidate.guide or default,
        evidence_to_seek="; ".join(place.why or place.path for place in candidate.context),
        difference=f"The earlier plans work by: {earlier[-1].strategy} This one does not.",
        avoid_edit_points=[f"{c.path}:{c.symbol}" for other in earlier for c in other.changes],
    )


def _contrast(candidate: ScriptedCandidate, earlier: list[ScriptedCandidate]) -> list[Block]:
    compared = []
    for other in earlier:
        relations = {
            name: "same" if getattr(candidate, name) == getattr(other, name) else "different"
            for name in ("root_cause", "expected_behaviour", "strategy", "context")
        }
        lines = [f"{name}: {relation} to {other.id}" for name, relation in relations.items()]
        compared.append({"earlier": other.id, **relations, "reasons": "\n".join(lines)})
    return _answer(compared=compared, advice=f"Stay away from: {earlier[-1].strategy}")


def _local_guide(candidate: ScriptedCandidate, run: ScriptedRun) -> list[Block]:
    parent = f"G{candidate.id[1:].split('.')[0]}"
    family = f"L{parent[1:]}."
    others = [
        other
        for other in run.candidates
        if other.id == parent or (other.id.startswith(family) and other.id < candidate.id)
    ]
    tactics = [
        {
            "id": other.id,
            "approach": other.summary,
            "changes": _edit_points(other),
            "technique_not_to_reuse": other.strategy,
            "assumptions": f"That {other.root_cause}",
        }
        for other in others
    ]
    guide = candidate.guide or f"Repair it in another way: {candidate.strategy}"
    return _answer(earlier=tactics, untouched=[], guide=guide)


def _places(pool: list[ScriptedCandidate]) -> list[dict[str, Json]]:
    """Every place some plan changes, with the plans that change it and those that do not."""
    changed = {c.id: {(change.path, change.symbol) for change in c.changes} for c in pool}
    reasons: dict[tuple[str, str], str] = {}
    for candidate in pool:
        for change in candidate.changes:
            reasons.setdefault((change.path, change.symbol), change.reason or change.what)
    return [
        {
            "path": path,
            "symbol": symbol,
            "why": why,
            "covered_by": [c.id for c in pool if (path, symbol) in changed[c.id]],
            "missing_in": [c.id for c in pool if (path, symbol) not in changed[c.id]],
        }
        for (path, symbol), why in reasons.items()
    ]


def _judge(
    candidate: ScriptedCandidate,
    pool: list[ScriptedCandidate],
    spine: str,
    gaps: list[dict[str, Json]],
) -> list[Block]:
    fields = plan_fields(candidate)
    for change in fields["changes"]:
        change["sources"] = list(change["sources"]) or [spine]
    used = {source for change in fields["changes"] for source in change["sources"]}
    kept = {(change["path"], change["symbol"]) for change in fields["changes"]}
    defects = [
        {
            "candidate": spine,
            "claim": f"{gap['path']} {gap['symbol']} is not changed",
            "verdict": "real" if (gap["path"], gap["symbol"]) in kept else "not_real",
            "reason": gap["why"],
        }
        for gap in gaps
    ]
    others = [other for other in pool if other.id != spine]
    complements = [
        {
            "candidate": other.id,
            "dimension": "strategy",
            "relation": "adds" if other.id in used else "conflicts",
            "what": other.strategy,
        }
        for other in others
    ]
    rejected = [
        {"candidate": other.id, "idea": other.strategy, "reason": "It conflicts with the spine."}
        for other in others
        if other.id not in used
    ]
    return _answer(**fields, defects=defects, complements=complements, rejected=rejected)
