"""Items: the unit of loss. What is finished is read back, what was in flight starts again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from pipeline.jsonable import from_json, to_json
from pipeline.services import Journal, PipelineStage

T = TypeVar("T")


async def step(
    journal: Journal,
    stage: PipelineStage,
    item: str,
    kind: type[T],
    work: Callable[[int], Awaitable[T]],
) -> T:
    """The recorded output of an item, or `work(attempt)` carried out and recorded.

    `kind` is the frozen dataclass that `work` returns. An exception leaves the item unfinished.
    """
    record = await journal.start(stage, item)
    if record.finished:
        return from_json(kind, record.output)
    value = await work(record.attempts)
    await journal.finish(stage, item, to_json(value))
    return value


async def side_by_side(
    limit: int,
    work: Sequence[Callable[[], Awaitable[T]]],
    told: Callable[[int], Awaitable[None]] | None = None,
) -> tuple[T, ...]:
    """Results of all `work` in its order, at most `limit` at a time.

    `told` hears how many are done after each. The first error cancels the rest and is raised as
    it is, not as a group.
    """
    gate = asyncio.Semaphore(limit)
    done = 0

    async def one(start: Callable[[], Awaitable[T]]) -> T:
        nonlocal done
        async with gate:
            result = await start()
        done += 1
        if told is not None:
            await told(done)
        return result

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(start)) for start in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tuple(task.result() for task in tasks)
