"""What an evaluation has so far, in two files that survive a kill after any byte.

predictions.jsonl is the harness's: instance_id, model_name_or_path, model_patch. results.jsonl
says of the same instances how sure Prism was, and what each cost.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.messages.view import winner_of
from app.settings import SettingsError
from pipeline.jsonable import from_json, to_json
from pipeline.values import Decision, Usage


@dataclass(frozen=True, slots=True)
class Result:
    """One finished instance. `votes` of `candidates` made the winning change."""

    instance_id: str
    outcome: str
    winner: str
    band: str
    votes: int
    candidates: int
    clusters: int
    cost_usd: float
    calls: int
    rule: str


class Lines:
    """A JSON-lines file by instance id; opening it takes half a line at its end away."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes() if path.exists() else b""
        whole = data.rpartition(b"\n")[0] + b"\n" if b"\n" in data else b""
        for number, line in enumerate(whole.splitlines(), 1):
            self._read(line, number)
        if len(whole) < len(data):
            os.truncate(path, len(whole))

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row; it is on disk when this returns."""
        with self._path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[row["instance_id"]] = row

    def _read(self, line: bytes, number: int) -> None:
        try:
            row = json.loads(line)
            self.rows[row["instance_id"]] = row
        except (ValueError, TypeError, KeyError):
            raise SettingsError(
                f"{self._path}, line {number}, is not a row of an evaluation. Name another file, "
                "or take the line out."
            ) from None


def prediction(instance_id: str, model: str, decision: Decision) -> dict[str, str]:
    """The harness's row: the winner's source patch, "" where nothing was chosen.

    Without the reproductions a pull request would add: the harness brings tests of its own, and
    a file of the same name would keep them from being applied.
    """
    winner = winner_of(decision)
    patch = winner.patch if winner is not None else ""
    text = patch.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {"instance_id": instance_id, "model_name_or_path": model, "model_patch": text}


def result_of(instance_id: str, decision: Decision, usage: Usage) -> Result:
    """The row of results.jsonl."""
    ballot = decision.ballot
    first = ballot.clusters[0] if ballot.winner and ballot.clusters else None
    return Result(
        instance_id=instance_id,
        outcome=decision.outcome,
        winner=ballot.winner or "",
        band=ballot.confidence.band if ballot.confidence else "",
        votes=first.votes if first is not None else 0,
        candidates=len(decision.candidates),
        clusters=len(ballot.clusters),
        cost_usd=usage.cost_usd,
        calls=usage.calls,
        rule=ballot.rule,
    )


def result_row(result: Result) -> dict[str, Any]:
    """Plain JSON of a result."""
    row: dict[str, Any] = to_json(result)
    return row


def results_in(lines: Lines) -> tuple[Result, ...]:
    """The results of a file."""
    return tuple(from_json(Result, row) for row in lines.rows.values())


def summary(results: Sequence[Result], predicted: int, problems: Sequence[str]) -> str:
    """What an evaluation came to, in plain text: patches, cost and agreement."""
    patched = [each for each in results if each.outcome == "patch"]
    cost = sum(each.cost_usd for each in results)
    lines = [
        f"{predicted} predictions, {len(patched)} with a patch and "
        f"{len(results) - len(patched)} without one.",
        f"Cost: ${cost:.2f} in {sum(each.calls for each in results)} model calls"
        + (f", ${cost / len(results):.3f} an instance." if results else "."),
    ]
    for band in ("strong", "fair", "weak"):
        count = sum(each.band == band for each in patched)
        if count:
            lines.append(f"Confidence {band}: {count}")
    if patched:
        share = sum(each.votes / each.candidates for each in patched) / len(patched)
        groups = sum(each.clusters for each in patched) / len(patched)
        lines.append(
            f"Agreement: {share:.0%} of the candidates made the winning change, "
            f"{groups:.1f} different changes an instance."
        )
    return "\n".join([*lines, *(f"Not run: {each}" for each in problems)])
