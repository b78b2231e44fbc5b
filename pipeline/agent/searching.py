"""Search tools over the index of the base commit: SWE-Adept's Table 9, neighbours and preview.

Source: SWE-Adept, localization agent (method.md §4.2): context holds previews while searching;
`finish_search` loads the full code of a shortlist only.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from pipeline.agent.search_text import bounded, edges_text, files_text, found_text, hit_text
from pipeline.agent.tool import Tool, ToolProblem, make_tool
from pipeline.index.errors import IndexingFailed
from pipeline.index.quoting import asked_name
from pipeline.index.search import CodeSearch, Hit, NotFound
from pipeline.index.search.search import KINDS, MAX_HITS
from pipeline.index.values import EdgeKind

T = TypeVar("T")
# Characters. Every later turn and every branch sends them again: no more than coders are shown.
MAX_FINISHED = 24_000


@dataclass(frozen=True, slots=True)
class FindFileArguments:
    """Input of `find_file`."""

    file_name: str
    dir_path: str = ""
    tests: bool = False


@dataclass(frozen=True, slots=True)
class FindDefinitionArguments:
    """Input of `find_code_def`."""

    definition_name: str
    file_path: str = ""
    tests: bool = False


@dataclass(frozen=True, slots=True)
class FindContentArguments:
    """Input of `find_code_content`; line 0 is none."""

    content: str
    file_path: str = ""
    start_line: int = 0
    end_line: int = 0
    tests: bool = False


@dataclass(frozen=True, slots=True)
class FindChildArguments:
    """Input of `find_child_unit`."""

    definition_name: str
    file_path: str


@dataclass(frozen=True, slots=True)
class NeighboursArguments:
    """Input of `neighbours`; no kinds are all."""

    unit: str
    kinds: tuple[EdgeKind, ...] = ()
    direction: Literal["out", "in", "both"] = "both"
    depth: int = 1
    tests: bool = False


@dataclass(frozen=True, slots=True)
class PreviewArguments:
    """Input of `preview`."""

    unit: str


@dataclass(frozen=True, slots=True)
class FinishArguments:
    """Input of `finish_search`; no units are those that were shown last."""

    units: tuple[str, ...] = ()


class Shown:
    """Ids of the units that one agent has been shown, the last mentioned at the end."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def note(self, hits: Iterable[Hit]) -> None:
        """These were shown, the best first."""
        for hit in reversed(tuple(hits)):
            self._ids.pop(hit.id, None)
            self._ids[hit.id] = None

    def last(self) -> tuple[str, ...]:
        """The ten that were mentioned last, latest first."""
        return tuple(reversed(self._ids))[:MAX_HITS]


async def asked(work: Callable[[], T]) -> T:
    """What a search gives, from a thread; what it cannot do becomes a ToolProblem."""
    try:
        return await asyncio.to_thread(work)
    except NotFound as error:
        raise ToolProblem(str(error)) from None
    except IndexingFailed as error:
        raise ToolProblem(f"The code index failed: {error} Use `search_text` instead.") from error


_DEFINITION = (
    "Find classes and functions by name: exact (`f`, `Class.method`, `pkg.mod.f`), else as a "
    "regular expression, else names that are alike. Shows heads, the lines that call "
    "children, and the ids of children (contained and called units). `file_path` is a file, a "
    "folder or a glob. Test code only with tests=true or by its path. "
)
_CONTENT = (
    "Find the units that hold a variable name (camelCase and snake_case are the same) or an "
    "exact piece of code (white space may differ), with the matched lines. start_line and "
    "end_line count with the path of one file. "
)
_CHILD = (
    "Show one class or function by its exact name and path, as ids of children have them: "
    "path:Name. Follow children this way, one at a time. "
)
_NEIGHBOURS = (
    "Show what a unit (path:Name, or a path) contains, imports, invokes and inherits, and "
    "what does so to it (direction in). A confidence below 1 is a guess by name. "
)


def search_tools(code: CodeSearch, shown: Shown, remark: str = "") -> tuple[Tool, ...]:
    """find_code_def, find_code_content, find_child_unit and neighbours of the base commit.

    `remark` ends every description.
    """

    async def find_code_def(arguments: FindDefinitionArguments) -> str:
        name, path = arguments.definition_name, arguments.file_path
        found = await asked(lambda: code.find_code_def(name, path or None, arguments.tests))
        shown.note(found.hits)
        return found_text(found, f"No definition is called {asked_name(name)} or anything like it.")

    async def find_code_content(arguments: FindContentArguments) -> str:
        found = await asked(
            lambda: code.find_code_content(
                arguments.content,
                arguments.file_path or None,
                arguments.start_line,
                arguments.end_line,
                arguments.tests,
            )
        )
        shown.note(found.hits)
        nothing = "No source file holds it. `search_text` takes a part or a regular expression."
        return found_text(found, nothing)

    async def find_child_unit(arguments: FindChildArguments) -> str:
        name, path = arguments.definition_name, arguments.file_path
        hit = await asked(lambda: code.find_child_unit(name, path))
        shown.note([hit])
        return bounded(hit_text(hit))

    async def neighbours(arguments: NeighboursArguments) -> str:
        kinds = arguments.kinds or KINDS
        found = await asked(
            lambda: code.neighbours(
                arguments.unit, kinds, arguments.direction, arguments.depth, arguments.tests
            )
        )
        return edges_text(found)

    return (
        make_tool("find_code_def", _DEFINITION + remark, FindDefinitionArguments, find_code_def),
        make_tool("find_code_content", _CONTENT + remark, FindContentArguments, find_code_content),
        make_tool("find_child_unit", _CHILD + remark, FindChildArguments, find_child_unit),
        make_tool("neighbours", _NEIGHBOURS + remark, NeighboursArguments, neighbours),
    )


def locating_tools(code: CodeSearch, shown: Shown) -> tuple[Tool, ...]:
    """find_file, preview and finish_search, which only those get who have yet to find the place."""

    async def find_file(arguments: FindFileArguments) -> str:
        name, folder = arguments.file_name, arguments.dir_path
        found = await asked(lambda: code.find_file(name, folder, arguments.tests))
        return files_text(found, name)

    async def preview(arguments: PreviewArguments) -> str:
        hit = await asked(lambda: code.preview(arguments.unit))
        shown.note([hit])
        return bounded(hit_text(hit))

    async def finish_search(arguments: FinishArguments) -> str:
        units = arguments.units or shown.last()
        if not units:
            raise ToolProblem("No unit was found yet; search first, or name `units` by their ids.")
        hits = await asked(lambda: code.finish_search(units, MAX_FINISHED))
        return "\n\n".join(hit_text(hit) for hit in hits)

    return (
        make_tool(
            "find_file",
            "Find files by name, end of path or glob, with the heads of their classes and "
            "functions. Test files only with tests=true.",
            FindFileArguments,
            find_file,
        ),
        make_tool(
            "preview",
            "Show a unit (path:Name) in short: head, lines that call children, children.",
            PreviewArguments,
            preview,
        ),
        make_tool(
            "finish_search",
            f"End the search: read the full code of up to {MAX_HITS} `units` (ids) at once, or "
            "of the ones shown last. Then decide.",
            FinishArguments,
            finish_search,
        ),
    )
