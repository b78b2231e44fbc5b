"""What does a run cost? A scripted full run through the emulator's prefix cache.

    python bench/cost.py [--scenario NAME …] [--cache DIR] [--json]

The whole recipe runs with the sandbox in force (PRISM_SANDBOX); only the model is scripted. The
exit code is 1 when a goal is missed.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import httpx
from rich.console import Console
from rich.table import Table

from app.github.source import MirrorSource, local_source
from app.index.background import run_index
from app.logs import configure_logs
from app.services import open_backend, open_model
from app.settings import Settings, read_settings
from bench.cost_account import Account, Call, account, by_stage, critical_path, read_calls
from bench.silent import Silent
from emulator.model.server import create_app
from emulator.scenarios.play import script
from emulator.scenarios.repository import base_files, repository
from emulator.scenarios.scenario import load, names
from emulator.scenarios.sdist import fetch
from emulator.serving import serving
from pipeline.journal import JsonLinesJournal, read_events
from pipeline.resolve import resolve
from pipeline.services import RunConfig, Services
from pipeline.values import Task

CACHED_GOAL = 0.85
BILLED_GOAL = 0.25
LIMIT_USD = 1000.0


@dataclass(frozen=True, slots=True)
class Run:
    """What one scenario's run left behind. `kept` as in `cost_account.account`."""

    scenario: str
    calls: list[Call]
    kept: dict[str, tuple[str, int]]
    seconds: float
    winner: str


async def played(name: str, folder: Path, cache: Path) -> Run:
    """Run a scenario's whole pool of twelve."""
    scenario = load(name)
    tree = repository(scenario, await fetch(scenario.sdist, cache), folder / "repository")
    answers = script(scenario, base_files(scenario, tree))
    with serving(create_app(answers)) as url, local_source(tree) as source:
        environ = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "key"}
        settings = read_settings(
            {**os.environ, "PRISM_DATA_DIR": str(folder / "data"), "LOG_LEVEL": "error", **environ}
        )
        configure_logs(settings)  # to stderr: stdout is the result's
        task = Task(name, 1, scenario.title, scenario.body, source.base_commit)
        journal = JsonLinesJournal(folder / "journal.jsonl", LIMIT_USD)
        began = time.monotonic()
        winner = await _resolved(settings, task, source, journal, f"bench-cost-{name}")
        seconds = time.monotonic() - began
        async with httpx.AsyncClient() as client:
            log = (await client.get(f"{url}/_emulator/calls")).json()
    kept = _kept((folder / "journal.jsonl").read_text(encoding="utf-8"))
    return Run(name, read_calls(log), kept, seconds, winner)


async def _resolved(
    settings: Settings, task: Task, source: MirrorSource, journal: JsonLinesJournal, run: str
) -> str:
    backend = open_backend(settings)
    try:
        async with (
            open_model(settings, journal, run) as model,
            run_index(settings.data_dir, source) as index,
        ):
            services = Services(
                run, model, backend, source, journal, journal, Silent(), RunConfig(), index
            )
            decision = await resolve(task, services)
    finally:
        await backend.close()
    return decision.ballot.winner or "nobody"


def _kept(journal: str) -> dict[str, tuple[str, int]]:
    """Of each local branch, its parent and the number of turns it left it after."""
    found = {}
    for event in read_events(journal):
        stage, _, item = str(event.get("item", "")).partition("/")
        if event["event"] == "finish" and stage == "local":
            output = event["output"]
            found[item] = (output["parents"][0], output["branch_step"] or 0)
    return found


async def measure(scenarios: Sequence[str], cache: Path) -> list[Run]:
    """One scenario after the other, each in a folder of its own."""
    runs = []
    for name in scenarios:
        with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
            runs.append(await played(name, Path(folder), cache))
        print(f"{name}: {runs[-1].winner} won, {runs[-1].seconds:.0f} s", file=sys.stderr)
    return runs


def figures(runs: Sequence[Run], workers: int) -> dict[str, dict[str, float | str]]:
    """For each scenario what the goals are about, and what it was made of."""
    rows: dict[str, dict[str, float | str]] = {}
    for run in runs:
        found = account(run.calls, run.kept)
        rows[run.scenario] = {
            "cached_share": round(found.cached_share, 4),
            "billed_share": round(found.billed_share, 4),
            "billed_share_of_turns": round(found.strict_share, 4),
            "calls": found.calls,
            "input_tokens": found.input,
            "read_tokens": found.read,
            "written_tokens": found.written,
            "billed_tokens": round(found.billed),
            "usd": round(found.usd, 4),
            "alone_calls": found.alone_calls,
            "alone_tokens": found.alone,
            "script_tokens": found.script,
            "critical_calls": critical_path(run.calls, workers),
            "critical_calls_unbounded": critical_path(run.calls, len(run.calls)),
            "seconds": round(run.seconds, 1),
            "winner": run.winner,
        }
    return rows


def show(runs: Sequence[Run], rows: dict[str, dict[str, float | str]]) -> None:
    """Both goals and, by stage, where the tokens are."""
    console = Console()
    for run in runs:
        table = Table(title=f"{run.scenario}: input tokens", title_justify="left")
        for column in ("stage", "calls", "input", "read", "written", "billed", "cached"):
            table.add_column(column, justify="left" if column == "stage" else "right")
        parts: dict[str, Account] = {**by_stage(run.calls), "all": account(run.calls, run.kept)}
        for name, part in parts.items():
            numbers = (part.calls, part.input, part.read, part.written, round(part.billed))
            table.add_row(name, *map(str, numbers), f"{part.cached_share:.1%}")
        console.print(table)
        row = rows[run.scenario]
        console.print(
            f"cached {row['cached_share']:.1%} (goal ≥ {CACHED_GOAL:.0%}); billed "
            f"{row['billed_share']:.1%} of the same script without cache and forks (goal ≤ "
            f"{BILLED_GOAL:.0%}), {row['billed_share_of_turns']:.1%} of its agents' turns alone; "
            f"{row['critical_calls']} of {row['calls']} calls on the critical path, "
            f"{row['critical_calls_unbounded']} with all agents at once"
        )


def main() -> int:
    """Measure, print, and say whether both goals are met in every scenario."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--scenario", nargs="*", choices=names(), default=["tenacity"])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "prism" / "bench")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs = asyncio.run(measure(options.scenario, options.cache))
    rows = figures(runs, RunConfig().max_parallel)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        show(runs, rows)
    missed = [
        name
        for name, row in rows.items()
        if float(row["cached_share"]) < CACHED_GOAL or float(row["billed_share"]) > BILLED_GOAL
    ]
    return 1 if missed else 0


_Raw = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
