"""One rate for all workers: Redis agrees with what a process does by itself."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from app.jobs.embedded import redis_url
from app.jobs.pace import RedisPace
from app.settings import Settings
from pipeline.model.pace import Rate


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A real Redis of this test's own."""
    with redis_url(Settings()) as found:
        yield found


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
