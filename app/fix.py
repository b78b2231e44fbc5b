"""`prism fix`: the same pipeline on a local repository, without GitHub."""

import asyncio
import hashlib
import json
import sys
from pathlib import Path

from rich.console import Console

from app.github.source import MirrorSource, local_source
from app.index.background import run_index
from app.messages.characters import without_invisible
from app.messages.render import local_report
from app.messages.view import held
from app.models import caps_of
from app.services import open_backend, open_model, run_config
from app.settings import Settings, SettingsError, require_data_dir
from pipeline.journal import JsonLinesJournal, read_events
from pipeline.jsonable import to_json
from pipeline.resolve import resolve
from pipeline.services import PipelineStage, Progress, Services
from pipeline.timing import spans_in, told
from pipeline.values import Decision, Task, Usage

NO_PATCH = 3
MAX_ISSUE_BYTES = 300_000


class ScreenProgress:
    """One line on the screen as stages move on."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """See pipeline.services.Progress."""
        self._console.print(f"[dim]{stage}: {done} of {total}{' – ' + note if note else ''}[/]")


def fix_local(
    settings: Settings,
    repository: Path,
    issue: Path,
    commit: str,
    out: Path | None,
    report: Path | None,
    journal: Path | None,
    record: Path | None,
) -> int:
    """Repair the issue; writes patch and report, returns 0 with a patch and 3 without.

    `record` is a journal that keeps what was said to the model and by it as well.
    Raises SettingsError before anything is spent when an option cannot be used.
    """
    console = Console(stderr=True)
    title, body = read_issue(issue)
    if record is not None and journal is not None and record.absolute() != journal.absolute():
        raise SettingsError("--record writes the journal, too: name one file, or the same twice.")
    _require_folders(out, report, journal, record)
    require_data_dir(settings)
    with local_source(repository, commit) as source:
        task = Task(repository.resolve().name, None, title, body, source.base_commit)
        path = record or journal or settings.data_dir / "fix" / f"{run_name(task)}.jsonl"
        ledger = JsonLinesJournal(path, settings.budget_usd, run_name(task), caps_of(settings))
        console.print(f"[dim]Journal: {path} (start again with the same file to resume)[/]")
        work = resolve_local(
            settings, task, source, ledger, ScreenProgress(console), recorded=record is not None
        )
        decision, usage = asyncio.run(work)
    timing = told(spans_in(read_events(path.read_text(encoding="utf-8", errors="replace"))))
    console.print(f"[dim]{timing}[/]", highlight=False)
    text = local_report(task, decision, usage, timing, scripted=settings.model_is_local)
    return _deliver(console, text, decision, usage, out, report)


async def resolve_local(
    settings: Settings,
    task: Task,
    source: MirrorSource,
    ledger: JsonLinesJournal,
    progress: Progress,
    *,
    recorded: bool,
) -> tuple[Decision, Usage]:
    """Decide about one task with everything in one journal file; what it cost in all.

    With `recorded` the journal keeps model calls and tool results, too.
    """
    run = run_name(task)
    recorder = ledger if recorded else None
    async with (
        open_model(settings, ledger, run, recorder) as model,
        run_index(settings.data_dir, source) as index,
    ):
        backend = open_backend(settings)
        services = Services(
            run=run,
            model=model,
            sandbox=backend,
            source=source,
            journal=ledger,
            budget=ledger,
            progress=progress,
            config=run_config(settings),
            index=index,
            recorder=recorder,
        )
        try:
            await backend.forget_failures(source.repository)  # a person asks: try again
            return await resolve(task, services, settings.recipe), await ledger.spent()
        finally:
            await backend.close()


def read_issue(path: Path) -> tuple[str, str]:
    """Title and body of an issue file: the first line is the title, as a heading or plain.

    Raises SettingsError for a file without text and for one that is too large.
    """
    return issue_text(path.read_bytes(), f"--issue: {path}")


def issue_text(data: bytes, named: str) -> tuple[str, str]:
    """Title and body of an issue's text, wherever it came from; see `read_issue`."""
    if len(data) > MAX_ISSUE_BYTES:
        raise SettingsError(f"{named} has more than {MAX_ISSUE_BYTES // 1000} kB.")
    title, _, body = data.decode("utf-8", "replace").strip().partition("\n")
    title = title.lstrip("# ").strip()
    if not title:
        raise SettingsError(f"{named} needs the issue's title in its first line.")
    return title, body.strip()


def _require_folders(*targets: Path | None) -> None:
    """What cannot be written at the end would lose the result."""
    for target in targets:
        if target is not None and (target.is_dir() or not target.absolute().parent.is_dir()):
            raise SettingsError(f"{target} cannot be written: its folder must be there.")


def run_name(task: Task) -> str:
    """A name for the run that is the same for the same issue on the same commit."""
    text = json.dumps([task.base_commit, task.title, task.body])
    return f"fix-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _deliver(
    console: Console,
    text: str,
    decision: Decision,
    usage: Usage,
    out: Path | None,
    report: Path | None,
) -> int:
    if report is not None and report.suffix == ".json":
        data = {"decision": to_json(decision), "usage": to_json(usage)}
        report.write_text(json.dumps(data, indent=2), encoding="utf-8")
    elif report is not None:
        report.write_text(text, encoding="utf-8", errors="replace")
    if decision.outcome == "no_patch":
        console.print(text, markup=False)
        return NO_PATCH
    for reason in held(decision):
        shown = without_invisible(reason)[0]  # it may quote the repository
        console.print(f"Please look closely: {shown}", markup=False, soft_wrap=True)
    if out is not None:
        out.write_text(decision.patch, encoding="utf-8", errors="surrogateescape")
        console.print(f"Patch of {decision.ballot.winner}: {out}")
    else:
        sys.stdout.buffer.write(decision.patch.encode("utf-8", "surrogateescape"))
    return 0
