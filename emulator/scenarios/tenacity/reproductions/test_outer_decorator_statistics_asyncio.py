import asyncio
import functools

import tenacity


def passes_through(function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        return await function(*args, **kwargs)

    return wrapper


def test_statistics_of_a_decorated_retry_coroutine():
    calls = []

    @passes_through
    @tenacity.retry(stop=tenacity.stop_after_attempt(3))
    async def third_time_lucky():
        calls.append(1)
        if len(calls) < 3:
            raise OSError("not yet")
        return "done"

    assert asyncio.run(third_time_lucky()) == "done"
    assert third_time_lucky.statistics.get("attempt_number") == 3
