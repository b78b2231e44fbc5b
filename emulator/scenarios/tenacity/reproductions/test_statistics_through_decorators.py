import asyncio
import functools

import tenacity


def fails_twice():
    """A function that raises until its third call."""
    calls = []

    def attempt():
        calls.append(1)
        if len(calls) < 3:
            raise OSError("not yet")
        return len(calls)

    return attempt


def test_sync_statistics_reach_an_outer_decorator():
    inner = tenacity.retry(stop=tenacity.stop_after_attempt(3))(fails_twice())

    @functools.wraps(inner)
    def outer():
        return inner()

    assert outer() == 3
    assert outer.statistics.get("attempt_number") == 3
    assert outer.statistics == inner.statistics


def test_async_statistics_reach_an_outer_decorator():
    attempt = fails_twice()

    @tenacity.retry(stop=tenacity.stop_after_attempt(3))
    async def inner():
        return attempt()

    @functools.wraps(inner)
    async def outer():
        return await inner()

    assert asyncio.run(outer()) == 3
    assert outer.statistics.get("attempt_number") == 3
    assert outer.statistics == inner.statistics
