"""Tools that look at the workspace as it is: list, outline, view, search_text."""

import posixpath
import shlex
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.agent.tool import Tool, ToolProblem, inside, make_tool
from pipeline.index.quoting import asked_name, quoted
from pipeline.index.units import units
from sandbox.base import Command, Workspace

MAX_ENTRIES = 300
MAX_LINES = 400
MAX_MATCHES = 50
MAX_WIDTH = 300
MAX_LINE = 2_000  # characters of a line, names of an outline included
MAX_SHOWN = 60_000  # characters of one answer
MAX_DEPTH = 8
MAX_ERRORS = 10
_ERRORS = "--- errors of the search ---"
SKIPPED = (".git", "node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".pytest_cache")


@dataclass(frozen=True, slots=True)
class ListArguments:
    """Input of `list`."""

    path: str = "."
    depth: int = 2


@dataclass(frozen=True, slots=True)
class OutlineArguments:
    """Input of `outline`."""

    path: str


@dataclass(frozen=True, slots=True)
class ViewArguments:
    """Input of `view`; lines are 1-based and inclusive, `end` 0 is as far as allowed."""

    path: str
    start: int = 1
    end: int = 0


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """Input of `search_text`."""

    pattern: str
    path: str = "."
    glob: str = ""
    max: int = MAX_MATCHES


def reading_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """list, outline, view and search_text over one workspace; none of them changes it."""

    async def list_files(arguments: ListArguments) -> str:
        return await _list(workspace, arguments)

    async def outline(arguments: OutlineArguments) -> str:
        path = inside(workspace.path, arguments.path)
        text = await workspace.read(path)
        return outline_text(path, text, await units(path, text))

    async def view(arguments: ViewArguments) -> str:
        path = inside(workspace.path, arguments.path)
        return numbered(await workspace.read(path), arguments.start, arguments.end)

    return (*looking_tools(list_files, outline, view), search_text_tool(workspace))


def looking_tools(
    list_files: Callable[[ListArguments], Awaitable[str]],
    outline: Callable[[OutlineArguments], Awaitable[str]],
    view: Callable[[ViewArguments], Awaitable[str]],
) -> tuple[Tool, ...]:
    """list, outline and view, answered by the given functions: one wording for every source."""
    return (
        make_tool(
            "list",
            "List files and folders below a folder. The depth is lowered until the answer has at "
            f"most {MAX_ENTRIES} entries.",
            ListArguments,
            list_files,
        ),
        make_tool(
            "outline",
            "Show the classes and functions of a source file with their line numbers.",
            OutlineArguments,
            outline,
        ),
        make_tool(
            "view",
            f"Show numbered lines of a file, at most {MAX_LINES} per call.",
            ViewArguments,
            view,
        ),
    )


def search_text_tool(workspace: Workspace) -> Tool:
    """search_text: regular expressions over all files, also those that no parser reads."""

    async def search_text(arguments: SearchArguments) -> str:
        return await _search(workspace, arguments)

    return make_tool(
        "search_text",
        "Search file contents for a regular expression. `glob` limits file names, e.g. "
        f'"*.py". Answers path:line:text, at most {MAX_MATCHES} matches.',
        SearchArguments,
        search_text,
    )


def numbered(text: str, start: int = 1, end: int = 0) -> str:
    """Lines start … end of a text with their numbers, and how many the file has when cut.

    At most 400 lines and about 60,000 characters; of a line at most 2,000.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    first = max(1, start)
    last = min(end if end > 0 else len(lines), first + MAX_LINES - 1, len(lines))
    if not lines:
        return "The file is empty."
    if first > len(lines) or last < first:
        raise ToolProblem(f"The file has {len(lines)} lines; ask for a range within them.")
    rows = _fitting(f"{n:>6}\t{_short(lines[n - 1])}" for n in range(first, last + 1))
    body, last = "\n".join(rows), first + len(rows) - 1
    whole = first == 1 and last == len(lines)
    return body if whole else f"{body}\n(lines {first}–{last} of {len(lines)})"


class _Definition(Protocol):
    """What an outline shows of a definition."""

    @property
    def name(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def signature(self) -> str: ...


def outline_text(path: str, text: str, found: Sequence[_Definition]) -> str:
    """One definition per line: lines, qualified name, head; at most about 60,000 characters."""
    if not found:
        count = text.count("\n") + 1
        return f"No definitions were found in {quoted(path)} ({count} lines); use `view`."
    rows = _fitting(
        f"{unit.start}–{unit.end}\t{_short(quoted(unit.name))}\t{quoted(unit.signature)}"
        for unit in found
    )
    more = len(found) - len(rows)
    note = (
        f"({more} more definitions; use `view` from line {found[len(rows)].start})" if more else ""
    )
    return "\n".join([*rows, note] if note else rows)


def _short(line: str) -> str:
    cut = f"{line[:MAX_LINE]}… (cut, {len(line)} characters)"
    return line if len(line) <= MAX_LINE else cut


def _fitting(rows: Iterable[str]) -> list[str]:
    """The first rows, at least one, that fit into one answer."""
    kept: list[str] = []
    size = 0
    for row in rows:
        size += len(row) + 1
        if kept and size > MAX_SHOWN:
            break
        kept.append(row)
    return kept


async def _list(workspace: Workspace, arguments: ListArguments) -> str:
    path = inside(workspace.path, arguments.path)
    skip = " -o ".join(f"-name {shlex.quote(name)}" for name in SKIPPED)
    for depth in range(min(max(1, arguments.depth), MAX_DEPTH), 0, -1):
        line = (
            f"find {shlex.quote(f'./{path}')} -mindepth 1 -maxdepth {depth} \\( {skip} \\) -prune "
            f"-o -mindepth 1 -printf '%y %p\\n'"
        )
        result = await workspace.exec(Command(line, output_limit=100_000, quick=True))
        if not result.ok:
            raise ToolProblem(f"{asked_name(path)} cannot be listed: {result.output.strip()[:200]}")
        entries = sorted(_entry(row) for row in result.output.splitlines() if row[1:2] == " ")
        if (len(entries) <= MAX_ENTRIES and not result.truncated) or depth == 1:
            return entries_text(entries, depth, arguments.depth)
    raise AssertionError("unreachable: depth 1 always answers")


def entries_text(entries: list[str], depth: int, asked: int) -> str:
    """Paths, quoted, one a line, and whether there are more or deeper ones."""
    if not entries:
        return "The folder is empty."
    shown = entries[:MAX_ENTRIES]
    notes = [f"({len(entries) - len(shown)} more entries not shown)"] if entries != shown else []
    if depth < asked:
        notes.append(f"(depth lowered to {depth}; list a folder of its own to see more)")
    return "\n".join([*map(quoted, shown), *notes])


def _entry(row: str) -> str:
    kind, path = row.split(" ", 1)
    return f"{posixpath.normpath(path)}{'/' if kind == 'd' else ''}"


async def _search(workspace: Workspace, arguments: SearchArguments) -> str:
    if not arguments.pattern:
        raise ToolProblem("The pattern is empty; name what to search for.")
    limit = min(max(1, arguments.max), MAX_MATCHES)
    path = shlex.quote(inside(workspace.path, arguments.path))
    pattern, glob = shlex.quote(arguments.pattern), shlex.quote(arguments.glob)
    rg_glob = f"-g {glob} " if arguments.glob else ""
    grep_glob = f"--include={glob} " if arguments.glob else ""
    skip = " ".join(f"--exclude-dir={name}" for name in SKIPPED)
    # Errors apart from matches: an unreadable folder is a remark, not the end of the search.
    line = (
        "exec 3>&1; said=$( { { if command -v rg >/dev/null 2>&1; then "
        f"rg -nH --no-heading --color never --sort path {rg_glob}-e {pattern} -- {path}; "
        f"else grep -rnHIE {skip} {grep_glob}-e {pattern} -- {path}; fi; }} "
        f"| cut -c1-{MAX_WIDTH} | head -n {limit + 1} >&3; exit ${{PIPESTATUS[0]}}; }} 2>&1 ); "
        f'code=$?; printf "%s\\n" "{_ERRORS}"; head -n {MAX_ERRORS} <<< "$said" '
        f"| cut -c1-{MAX_WIDTH}; exit $code"
    )
    limit_bytes = (MAX_WIDTH + 1) * (MAX_MATCHES + MAX_ERRORS + 2)
    result = await workspace.exec(Command(line, output_limit=limit_bytes, quick=True))
    matches, _, said = result.output.rpartition(f"{_ERRORS}\n")
    rows = [row.removeprefix("./") for row in matches.splitlines()]
    errors = [row for row in said.splitlines() if row.strip()]
    unreadable = bool(errors) and all("permission denied" in row.lower() for row in errors)
    if result.exit_code == 2 and not rows and not unreadable:
        raise ToolProblem(f"The search failed: {' '.join(errors)[:300]} Check the pattern.")
    notes = [f"(more than {limit} matches; narrow the pattern or the path)"]
    notes = notes if len(rows) > limit else []
    if errors:
        notes.append(f"(not everything could be searched: {errors[0][:200]})")
    return "\n".join([*(rows[:limit] or ["No match."]), *notes])
