"""Values as text for prompts. What comes from outside is always a delimited block of data."""

import re
from collections.abc import Mapping

from pipeline.values import Change, Location, Plan, Solution, Task

MAX_ISSUE = 30_000


def data_block(tag: str, text: str) -> str:
    """Text between tags that it cannot close itself."""
    safe = re.sub(rf"<(?=\s*/?\s*{re.escape(tag)}\b)", "<\\\\", text, flags=re.IGNORECASE)
    return f"<{tag}>\n{safe.strip()}\n</{tag}>"


def issue_block(task: Task) -> str:
    """The issue as data, its body cut at 30,000 characters."""
    body = task.body.strip() or "(no description)"
    if len(body) > MAX_ISSUE:
        body = f"{body[:MAX_ISSUE]}\n(cut: {len(body) - MAX_ISSUE} more characters)"
    return data_block("issue", f"Title: {task.title}\n\n{body}")


def solution_text(solution: Solution) -> str:
    """The four-tuple, one element after the other."""
    return "\n".join(
        [
            f"Root cause: {solution.root_cause}",
            f"Expected behaviour: {solution.expected_behaviour}",
            f"Strategy: {solution.strategy}",
            "Context:",
            *(f"- {_place(place)}" for place in solution.context),
        ]
    )


def plan_text(plan: Plan) -> str:
    """A whole plan: summary, four-tuple, numbered changes, tests and risks."""
    return _plan(plan, solution_text(plan.solution))


def tactics_text(plans: Mapping[str, Plan]) -> str:
    """Plans of one branch under their ids, as data, without what they share: cause and places."""
    return "\n\n".join(
        data_block("plan", f"id: {name}\n{_plan(plan, f'Strategy: {plan.solution.strategy}')}")
        for name, plan in plans.items()
    )


def _plan(plan: Plan, solution: str) -> str:
    parts = [f"Summary: {plan.summary}", solution, "Changes:"]
    parts += [f"{n}. {_change(change)}" for n, change in enumerate(plan.changes, 1)]
    parts += ["Tests:", *(f"- {test}" for test in plan.tests)] if plan.tests else []
    parts += ["Risks:", *(f"- {risk}" for risk in plan.risks)] if plan.risks else []
    return "\n".join(parts)


def plans_text(plans: Mapping[str, Plan]) -> str:
    """Plans under their ids, as data: a planner has read the repository, which may lie."""
    return "\n\n".join(
        data_block("plan", f"id: {name}\n{plan_text(plan)}") for name, plan in plans.items()
    )


def _place(place: Location) -> str:
    lines = f":{place.start}–{place.end}" if place.start else ""
    symbol = f" {place.symbol}" if place.symbol else ""
    return f"{place.path}{lines}{symbol}" + (f" – {place.why}" if place.why else "")


def _change(change: Change) -> str:
    symbol = f" ({change.symbol})" if change.symbol else ""
    reason = f" Reason: {change.reason}" if change.reason else ""
    sources = f" [from {', '.join(change.sources)}]" if change.sources else ""
    return f"{change.path}{symbol}: {change.what}{reason}{sources}"
