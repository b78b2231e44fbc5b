"""One rate for everybody: bursts are bounded, pauses hold, and Redis agrees with this process."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.jobs.embedded import redis_url
from app.jobs.pace import RedisPace
from app.settings import Settings
from pipeline.model.pace import LocalPace, Rate


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A real Redis of this test's own."""
    with redis_url(Settings()) as found:
        yield found


@given(st.floats(1, 600), st.lists(st.floats(0, 30), min_size=1, max_size=40))
def test_no_window_has_more_calls_than_the_rate_allows(
    per_minute: float, gaps: list[float]
) -> None:
    """Whoever waits as told starts at most a burst more than the rate in any stretch of time."""
    now, rate = 0.0, Rate(per_minute)
    pace = LocalPace(rate, clock=lambda: now)
    starts = []
    for gap in gaps:
        now += gap
        starts.append(now + asyncio.run(pace.turn()))
    for first, begin in enumerate(starts):
        for count, end in enumerate(starts[first:], 1):
            allowed = (end - begin + rate.burst_s) / rate.interval_s + 1
            assert count <= allowed + 1e-6


async def test_without_a_rate_only_pauses_count() -> None:
    """Calls start at once until the provider asks for a pause, and after it."""
    now = 100.0
    pace = LocalPace(Rate(), clock=lambda: now)
    assert [await pace.turn() for _ in range(50)] == [0.0] * 50
    await pace.hold(5.0)
    assert await pace.turn() == pytest.approx(5.0)
    now += 2.0
    assert await pace.turn() == pytest.approx(3.0)
    now += 3.0
    assert await pace.turn() == 0.0


async def test_workers_share_one_bucket_in_redis(url: str) -> None:
    """Two workers together get what one alone would; another key has its own bucket."""
    one, other = (RedisPace(url, "a", Rate(60)) for _ in range(2))
    waits = sorted(await asyncio.gather(*(p.turn() for p in (one, other) for _ in range(8))))
    assert waits[9] < 0.5
    assert waits[-1] == pytest.approx(6.0, abs=0.5)
    apart = RedisPace(url, "b", Rate(60))
    assert await apart.turn() == 0.0
    await other.hold(30.0)
    assert await one.turn() == pytest.approx(30.0, abs=0.5)
    for pace in (one, other, apart):
        await pace.close()


async def test_without_redis_a_worker_keeps_to_the_rate_by_itself() -> None:
    """A lost Redis neither stops calls nor lets them loose, and costs no long wait."""
    pace = RedisPace("redis://127.0.0.1:9", "a", Rate(60))
    began = time.monotonic()
    waits = [await pace.turn() for _ in range(11)]
    await pace.hold(20.0)
    assert waits[0] == 0.0
    assert waits[-1] > 0.0
    assert await pace.turn() >= 19.0
    assert time.monotonic() - began < 5.0
    await pace.close()
