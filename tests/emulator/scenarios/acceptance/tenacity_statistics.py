"""Behaviour of tenacity's statistics through outer decorators, beyond what the script's tests say.

Run inside a tree of tenacity; the names of the tests say what must hold.
"""

import asyncio
import functools

import pytest
import tenacity


def counted(function):
    """A decorator as a user of tenacity would write it."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def timed(function):
    """The same for coroutines."""

    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        await asyncio.sleep(0)
        return await function(*args, **kwargs)

    return wrapper


def test_two_decorators_show_the_last_call_and_leave_neighbours_alone():
    def flaky(failures):
        left = [failures]

        def attempt(again=None):
            if again is not None:
                left[0] = again
            if left[0]:
                left[0] -= 1
                raise ConnectionError("not yet")
            return "done"

        return attempt

    decorate = tenacity.retry(stop=tenacity.stop_after_attempt(4))
    first, second = (counted(counted(decorate(flaky(n)))) for n in (3, 1))

    assert first.statistics == {}
    assert first() == second() == "done"
    assert (first.statistics["attempt_number"], second.statistics["attempt_number"]) == (4, 2)
    assert first() == "done"
    assert first.statistics["attempt_number"] == 1
    assert first.statistics == first.__wrapped__.__wrapped__.statistics
    with pytest.raises(tenacity.RetryError):
        second(again=9)
    assert second.statistics["attempt_number"] == 4


def test_a_decorated_coroutine_shows_its_statistics_while_it_runs_and_afterwards():
    seen = []

    @timed
    @timed
    @tenacity.retry(
        stop=tenacity.stop_after_attempt(5),
        retry=tenacity.retry_if_result(lambda value: value < 3),
        wait=tenacity.wait_fixed(0.001),
    )
    async def growing():
        seen.append(growing.statistics.get("attempt_number"))
        return len(seen)

    async def use():
        assert await growing() == 3
        assert seen == [1, 2, 3]
        assert growing.statistics["attempt_number"] == 3
        assert growing.statistics["idle_for"] == pytest.approx(0.002)
        assert await growing() == 4
        assert growing.statistics["attempt_number"] == 1

    asyncio.run(use())
