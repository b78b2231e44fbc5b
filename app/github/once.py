"""Find before create: how every effect on GitHub is made exactly once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.github.errors import GitHubUnavailable, Unprocessable

T = TypeVar("T")

ATTEMPTS = 3
PAUSE_S = 0.5


async def find_or_create(
    find: Callable[[], Awaitable[T | None]], create: Callable[[], Awaitable[T]]
) -> T:
    """What `find` finds, else what `create` makes; looks again whenever an answer was lost.

    A refusal as unprocessable may mean that somebody else was quicker, so it is looked up once
    and raised when there is nothing. Raises GitHubUnavailable after three tries.
    """
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(PAUSE_S * 2**attempt)
        found = await find()
        if found is not None:
            return found
        try:
            return await create()
        except Unprocessable:
            found = await find()
            if found is not None:
                return found
            raise
        except GitHubUnavailable as error:
            lost = error
    found = await find()
    if found is not None:
        return found
    raise lost


async def repeated(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a write that may be done twice without harm, such as storing a git object."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return await call()
        except GitHubUnavailable:
            await asyncio.sleep(PAUSE_S * 2**attempt)
    return await call()
