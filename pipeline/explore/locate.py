"""What all agents of a run know of the base commit: its search, and where to look first."""

import asyncio

from pipeline.explore.state import NO_PLACES
from pipeline.index.errors import IndexingFailed
from pipeline.index.graph import build_graph
from pipeline.index.rank.rank import rank
from pipeline.index.rank.seeds import seed_text
from pipeline.index.search import CodeSearch
from pipeline.index.store import Index
from pipeline.prompts.blocks import data_block
from pipeline.services import Services
from pipeline.values import Task


async def code_search(services: Services) -> CodeSearch | None:
    """Index and graph of the base commit, waited for; None when they could not be built.

    Agents then have the workspace's own tools, and everything else goes on as it is.
    """
    index = await services.index.opened() if services.index is not None else None
    if index is None:
        return None
    try:
        return await asyncio.to_thread(_opened, index)
    except IndexingFailed:
        return None


async def likely_places(code: CodeSearch | None, task: Task) -> str:
    """Files and functions ranked for the issue, with reasons, as data for planners.

    Made once, so that every conversation begins with the same bytes; no model call.
    """
    if code is None:
        return NO_PLACES
    try:
        ranking = await asyncio.to_thread(rank, code.index, task.title, task.body)
    except IndexingFailed:
        return NO_PLACES
    return data_block("places", seed_text(ranking)) if ranking.files else NO_PLACES


def _opened(index: Index) -> CodeSearch:
    code = CodeSearch(index, build_graph(index))
    code.prepare()
    return code
