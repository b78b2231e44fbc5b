"""Results as a table for a terminal, as Markdown and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from sandbox.attacks.base import AttackResult

_COLOURS = {"held": "green", "limit": "yellow", "not held": "red"}


def summary(results: Sequence[AttackResult]) -> str:
    """One sentence, e.g. "61 of 65 held, 4 known limits"."""
    count = {verdict: sum(r.verdict == verdict for r in results) for verdict in _COLOURS}
    parts = [f"{count['held']} of {len(results)} held", f"{count['limit']} known limits"]
    if count["not held"]:
        parts.append(f"{count['not held']} NOT held")
    return ", ".join(parts)


def as_table(results: Sequence[AttackResult]) -> Table:
    """A table for a terminal; observed texts are shown literally."""
    table = Table(title=f"Attacks on the sandbox: {summary(results)}", title_justify="left")
    for name in ("attack", "what is tried", "held by", "result", "observed"):
        table.add_column(name, overflow="fold")
    for result in results:
        table.add_row(
            Text(f"{result.group}/{result.id}"),
            Text(result.title),
            Text(result.held_by),
            Text(result.verdict, style=_COLOURS[result.verdict]),
            Text(result.observed),
        )
    return table


def as_markdown(results: Sequence[AttackResult]) -> str:
    """A table per result in Markdown, without times, so that two runs compare well."""
    rows = [
        "| attack | what is tried | held by | result | observed |",
        "| --- | --- | --- | --- | --- |",
    ]
    for r in results:
        cells = (f"{r.group}/{r.id}", r.title, r.held_by, f"**{r.verdict}**", r.observed)
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def as_json(results: Sequence[AttackResult]) -> str:
    """All fields as a JSON list."""
    return json.dumps([asdict(result) for result in results], indent=2) + "\n"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
