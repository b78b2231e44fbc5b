"""`prism index build | stats | search | rank`: make the code index of a repository, and ask it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.environment.source import repository
from app.fix import MAX_ISSUE_BYTES, issue_text
from app.index import view
from app.index.opening import built, store_of
from app.settings import Settings, SettingsError, require_data_dir
from pipeline.index.build import BuildStats
from pipeline.index.graph import build_graph
from pipeline.index.rank.rank import rank as ranking_of
from pipeline.index.search.search import CodeSearch
from pipeline.index.store import Index, store_file

NOTHING_FOUND = 1


async def build(settings: Settings, named: str, commit: str) -> int:
    """Make sure that a commit is indexed; only what no earlier commit brought is parsed."""
    async with _index(settings, named, commit) as (_, stats, _):
        _print(view.build_text(stats))
    return 0


async def stats(settings: Settings, named: str, commit: str) -> int:
    """Print what the index holds of a commit."""
    async with _index(settings, named, commit) as (index, _, store):
        parts = (store, store.with_name(f"{store.name}-wal"))
        size = sum(part.stat().st_size for part in parts if part.exists())
        _print(await asyncio.to_thread(view.stats_text, index, size))
    return 0


async def search(settings: Settings, named: str, commit: str, query: str, *, tests: bool) -> int:
    """Print files, definitions and code that fit a query; returns 1 when nothing does.

    Raises SettingsError for a query without a word.
    """
    if not query.strip():
        raise SettingsError(
            "The query is empty; give a name, the end of a path or a piece of code."
        )
    async with _index(settings, named, commit) as (index, _, _):
        text = await asyncio.to_thread(_search_text, index, query, tests)
    _print(text or f"Nothing in this commit is like {view.one_line(query)!r}.")
    return 0 if text else NOTHING_FOUND


def _search_text(index: Index, query: str, tests: bool) -> str:
    wanted = CodeSearch(index, build_graph(index))
    return view.search_text(
        wanted.find_file(query, tests=tests),
        wanted.find_code_def(query, tests=tests),
        wanted.find_code_content(query, tests=tests),
    )


async def rank(settings: Settings, named: str, commit: str, issue: Path | None, top: int) -> int:
    """Print the files and functions that an issue most likely needs changed, and why; returns 1
    when the commit has none that could be."""
    title, body = _issue(issue)
    async with _index(settings, named, commit) as (index, _, _):
        found = await asyncio.to_thread(ranking_of, index, title, body)
    if not found.files:
        _print("This commit has no source file of a known language outside its tests.")
        return NOTHING_FOUND
    _print(view.ranking_text(found, top))
    return 0


@asynccontextmanager
async def _index(
    settings: Settings, named: str, commit: str
) -> AsyncIterator[tuple[Index, BuildStats, Path]]:
    """The index of a repository's commit, built behind a progress bar when it is not there."""
    require_data_dir(settings)
    async with repository(settings, named, commit) as source:
        screen = Console(stderr=True)
        unseen = not screen.is_terminal
        columns = (TextColumn("parsing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=screen, transient=True, disable=unseen) as bar:
            task = bar.add_task("parsing", total=None, start=True)

            def told(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            index, done = await built(settings.data_dir, source, told)
        with index:
            yield index, done, store_file(store_of(settings.data_dir, source.mirror))


def _issue(path: Path | None) -> tuple[str, str]:
    """Title and body from a file, from standard input without one; raises SettingsError."""
    data = path.read_bytes() if path else sys.stdin.buffer.read(MAX_ISSUE_BYTES + 1)
    return issue_text(data, str(path) if path else "standard input")


def _print(text: str) -> None:
    Console(soft_wrap=True).out(text, highlight=False)
