"""`prism replay`: decide a run again from its journal, and say whether the winner is the same."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from app.ledger import records, runs
from app.ledger.engine import open_ledger
from app.ledger.errors import LedgerError
from app.ledger.items import Item, list_items
from app.ledger.migrate import require_migrated
from app.messages.characters import without_invisible
from app.messages.confidence import how_sure
from app.messages.picture import exploration_svg
from app.settings import Settings, SettingsError
from pipeline.journal import read_events
from pipeline.replay import Replayed, replay, stored_in
from pipeline.services import Json
from pipeline.timing import spans_in, told

SAME, DIFFERENT, CANNOT = 0, 1, 2


def replay_run(
    settings: Settings, named: str, export: Path | None, picture: Path | None = None
) -> int:
    """Print ballot and critical path of a stored run; 0 for the recorded winner, else 1 or 2.

    `named` is a journal of `prism fix`, else a run id of the ledger. `export` takes the run as a
    journal file, which the emulator's model endpoint plays when it holds records; `picture` the
    exploration as SVG. Raises SettingsError and NothingToReplay when there is nothing to decide.
    """
    path = Path(named)
    events = _file_events(path) if path.exists() else asyncio.run(_ledger_events(settings, named))
    if export is not None:
        lines = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
        export.touch(mode=0o600)
        export.write_text(lines, encoding="ascii")
    replayed = replay(stored_in(events))
    if picture is not None:
        picture.write_text(exploration_svg(replayed.pool.candidates, replayed.ballot), "utf-8")
    click.echo(without_invisible(report(replayed))[0])
    if line := told(spans_in(events)):
        click.echo(f"\n{line}")
    if replayed.recorded is None:
        return CANNOT
    return SAME if replayed.same_winner else DIFFERENT


def report(replayed: Replayed) -> str:
    """The ballot as a table in plain text, then how it compares with the recorded one."""
    pool, ballot = replayed.pool, replayed.ballot
    ran = sum(each.regression_ran for each in pool.evidence.values())
    lines = [
        f"{len(pool.candidates)} candidates, evidence about {len(pool.evidence)}, the suite's "
        f"verdict on {ran}; {len(pool.reproductions)} reproductions, "
        f"{len(pool.exclusions)} excluded tests. No model was called.",
        "",
    ]
    why = {each.candidate: "; ".join(each.reasons) for each in ballot.gates}
    for group in ballot.clusters:
        lines.append(f"{group.label}  {group.votes} votes  {', '.join(group.members)}")
        lines += [f"     {name}: {why[name]}" for name in group.members if why.get(name)]
    lines += ["", f"Winner: {ballot.winner or 'nobody'}. {ballot.rule}"]
    if ballot.confidence is not None:
        lines.append(f"Confidence: {how_sure(ballot.confidence)}.")
    lines += replayed.missing
    if replayed.recorded is not None:
        said = "The recorded run has the same winner."
        lines += [*replayed.differences, *([said] if replayed.same_winner else [])]
    return "\n".join(lines)


def _file_events(path: Path) -> list[dict[str, Json]]:
    if path.is_dir():
        raise SettingsError(f"{path} is a folder; name a journal of `prism fix` or a run's id.")
    events = [
        each
        for each in read_events(path.read_text(encoding="utf-8", errors="replace"))
        if "event" in each
    ]
    if not events:
        raise SettingsError(f"{path} is not a journal of `prism fix`.")
    return events


async def _ledger_events(settings: Settings, run_id: str) -> list[dict[str, Json]]:
    """A run's items and records as the events of a journal file."""
    if not settings.has_database:
        raise SettingsError(
            f"There is no file {run_id}, and no ledger in {settings.data_dir}. Name a journal of "
            "`prism fix`, or set PRISM_DATA_DIR or DATABASE_URL as the worker has it."
        )
    engine = open_ledger(settings.database)
    try:
        await require_migrated(engine)
        if await runs.get(engine, run_id) is None:
            raise SettingsError(f"There is no file {run_id}, and the ledger has no such run.")
        items = await list_items(engine, run_id)
        recorded = await records.load_events(engine, run_id)
    except LedgerError as error:
        raise SettingsError(str(error)) from error
    finally:
        await engine.dispose()
    return [{"event": "run", "run": run_id}, *_item_events(items), *recorded]


def _item_events(items: Iterable[Item]) -> Iterable[Mapping[str, Json]]:
    for each in items:
        name = f"{each.stage}/{each.name}"
        yield from [{"event": "start", "item": name, "at": each.started_at}] * each.attempts
    for each in sorted(items, key=lambda each: each.finished_at or 0.0):
        if each.finished_at is not None:
            name = f"{each.stage}/{each.name}"
            at = each.finished_at
            yield {"event": "finish", "item": name, "at": at, "output": each.output}
