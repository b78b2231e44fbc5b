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


def likely_files(index: Index, title: str, body: str) -> list[str]:
    """The best few files of the ranking for an issue; blocks. Raises IndexingFailed."""
    return [each.id for each in rank(index, title, body).files[:PLACES]]


def _near(index: Index, task: Task) -> list[str]:
    return nearest_tests(index, likely_files(index, task.title, task.body))
