"""What tests of the worker share."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

Eventually = Callable[[Callable[[], Awaitable[bool]]], Awaitable[None]]


@pytest.fixture
def eventually() -> Eventually:
    """Waits until a condition holds; fails after 20 s."""

    async def wait(condition: Callable[[], Awaitable[bool]]) -> None:
        deadline = time.monotonic() + 20
        while not await condition():
            assert time.monotonic() < deadline, "it did not happen within 20 s"
            await asyncio.sleep(0.02)

    return wait
