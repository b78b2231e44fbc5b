"""The demo's result as one JSON object, read from the ledger and from GitHub."""

from dataclasses import dataclass
from typing import Any

from app.ledger.budget import spent_by
from app.ledger.engine import open_ledger
from app.ledger.items import Item, list_items
from app.ledger.runs import Run, latest_for_issue
from pipeline.jsonable import from_json, to_json
from pipeline.values import Decision, Usage


@dataclass(frozen=True, slots=True)
class Seen:
    """A run as the ledger shows it at one moment."""

    run: Run
    items: tuple[Item, ...]
    usage: Usage

    @property
    def decision(self) -> Decision | None:
        """What was decided, None before the vote."""
        for item in self.items:
            if (item.stage, item.name) == ("vote", "decision") and item.output is not None:
                return from_json(Decision, item.output)
        return None


async def look(database: str, installation_id: int, repository_id: int, issue: int) -> Seen | None:
    """The issue's latest run, None while there is none."""
    engine = open_ledger(database)
    try:
        run = await latest_for_issue(engine, installation_id, repository_id, issue)
        if run is None:
            return None
        items = tuple(await list_items(engine, run.id))
        return Seen(run, items, await spent_by(engine, run.id))
    finally:
        await engine.dispose()


def as_json(seen: Seen, pull_request: dict[str, Any], wall_s: float, scripted: bool) -> Any:
    """Everything the run ended with; candidates in the order of the pool."""
    decision = seen.decision
    assert decision is not None, "a run that opened a pull request has a decision"
    clusters = {member: each for each in decision.ballot.clusters for member in each.members}
    gates = {gate.candidate: gate for gate in decision.ballot.gates}
    return {
        "pull_request": {
            "number": pull_request["number"],
            "branch": pull_request["head"]["ref"],
            "title": pull_request["title"],
            "body": pull_request["body"],
            "draft": pull_request["draft"],
            "url": pull_request["html_url"],
        },
        "patch": decision.patch,
        "candidates": [
            {
                "id": each.id,
                "stage": each.stage,
                "cluster": clusters[each.id].label,
                "votes": clusters[each.id].votes,
                "gate": {"ok": gates[each.id].ok, "reasons": list(gates[each.id].reasons)},
                "evidence": to_json(decision.evidence[each.id]),
            }
            for each in decision.candidates
        ],
        "winner": decision.ballot.winner,
        "model_calls": seen.usage.calls,
        "tokens": seen.usage.input_tokens + seen.usage.output_tokens,
        "input_tokens": seen.usage.input_tokens,
        "output_tokens": seen.usage.output_tokens,
        "cached_share": round(seen.usage.cached_share, 4),
        "wall_seconds": round(wall_s, 1),
        "sandbox": {"isolation": decision.isolation},
        "model": "scripted" if scripted else "live",
        "run": seen.run.id,
    }
