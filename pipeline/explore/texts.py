"""How tasks and plans read to a model: the same words everywhere, so that prefixes stay equal."""

from collections.abc import Iterable

from pipeline.values import Location, Plan


def location_text(location: Location) -> str:
    """One line: path, symbol, lines, reason."""
    lines = f":{location.start}-{location.end}" if location.start else ""
    symbol = f" {location.symbol}" if location.symbol else ""
    return f"- {location.path}{lines}{symbol} — {location.why}"


def plan_text(name: str, plan: Plan) -> str:
    """A whole plan under its candidate's id."""
    parts = [
        f"## Plan {name}: {plan.summary}",
        f"Root cause: {plan.solution.root_cause}",
        f"Expected behaviour: {plan.solution.expected_behaviour}",
        f"Strategy: {plan.solution.strategy}",
        "Context:",
        *map(location_text, plan.solution.context),
        "Changes:",
        *_numbered(
            f"{change.path}{' ' + change.symbol if change.symbol else ''}: {change.what}"
            + (f" ({change.reason})" if change.reason else "")
            for change in plan.changes
        ),
    ]
    if plan.tests:
        parts += ["Tests:", *(f"- {test}" for test in plan.tests)]
    if plan.risks:
        parts += ["Risks:", *(f"- {risk}" for risk in plan.risks)]
    return "\n".join(parts)


def plans_text(plans: Iterable[tuple[str, Plan]]) -> str:
    """Several plans, one after the other."""
    return "\n\n".join(plan_text(name, plan) for name, plan in plans)


def _numbered(lines: Iterable[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]
