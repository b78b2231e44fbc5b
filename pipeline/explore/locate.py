"""The search over the base commit that agents share, opened once for a run."""

import asyncio

from pipeline.index.errors import IndexingFailed
from pipeline.index.graph import build_graph
from pipeline.index.search import CodeSearch
from pipeline.index.store import Index
from pipeline.services import Services


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


def _opened(index: Index) -> CodeSearch:
    code = CodeSearch(index, build_graph(index))
    code.prepare()
    return code
