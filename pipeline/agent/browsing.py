"""list, outline and view of the base commit, from the index: no container takes part."""

from collections.abc import Iterable

from pipeline.agent.reading import (
    MAX_ENTRIES,
    ListArguments,
    OutlineArguments,
    ViewArguments,
    entries_text,
    looking_tools,
    numbered,
    outline_text,
)
from pipeline.agent.searching import asked
from pipeline.agent.tool import Tool, ToolProblem, inside
from pipeline.index.quoting import asked_name
from pipeline.index.search import CodeSearch

MAX_DEPTH = 8


def browsing_tools(code: CodeSearch, root: str) -> tuple[Tool, ...]:
    """The same tools, with the same answers, as over a workspace in its first state.

    `root` is the folder at which agents see the repository: paths below it are understood.
    """

    async def list_files(arguments: ListArguments) -> str:
        path = inside(root, arguments.path)
        return await asked(lambda: _list(code, path, arguments.depth))

    async def outline(arguments: OutlineArguments) -> str:
        path = inside(root, arguments.path)
        return await asked(lambda: _outline(code, path))

    async def view(arguments: ViewArguments) -> str:
        path = inside(root, arguments.path)
        text = await asked(lambda: code.view(path))
        return numbered(text, arguments.start, arguments.end)

    return looking_tools(list_files, outline, view)


def _outline(code: CodeSearch, path: str) -> str:
    found = [unit for unit in code.outline(path) if unit.kind != "chunk"]
    return outline_text(path, code.view(path), found)


def _list(code: CodeSearch, folder: str, asked_depth: int) -> str:
    start = "" if folder == "." else f"{folder}/"
    paths = [row.path[len(start) :] for row in code.index.files() if row.path.startswith(start)]
    if not paths and start:
        known = "it is a file" if code.index.file(folder) else "there is no such folder"
        raise ToolProblem(
            f"{asked_name(folder)} cannot be listed: {known}. List the folder above it."
        )
    depth = min(max(1, asked_depth), MAX_DEPTH)
    while len(found := _entries(paths, depth)) > MAX_ENTRIES and depth > 1:
        depth -= 1
    return entries_text([f"{start}{entry}" for entry in found], depth, asked_depth)


def _entries(paths: Iterable[str], depth: int) -> list[str]:
    """Files and folders of at most so many parts; folders end in a slash."""
    found = set()
    for path in paths:
        parts = path.split("/")
        found |= {"/".join(parts[:n]) + "/" for n in range(1, min(len(parts) - 1, depth) + 1)}
        if len(parts) <= depth:
            found.add(path)
    return sorted(found)
