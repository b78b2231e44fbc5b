"""Tests near to where the issue points, found before any patch is looked at."""

import asyncio

from pipeline.index.errors import IndexingFailed
from pipeline.index.rank.proximity import nearest_tests
from pipeline.index.rank.rank import rank
from pipeline.index.store import Index
from pipeline.services import Services
from pipeline.values import Task

PLACES = 3  # files of the ranking that tests are compared with


async def near_tests(services: Services, task: Task) -> list[str]:
    """Test files nearest to the best places of the issue first; none without an index."""
    index = await services.index.opened() if services.index is not None else None
    if index is None:
        return []
    try:
        return await asyncio.to_thread(_near, index, task)
    except IndexingFailed:
        return []


def _near(index: Index, task: Task) -> list[str]:
    ranking = rank(index, task.title, task.body)
    return nearest_tests(index, [each.id for each in ranking.files[:PLACES]])
