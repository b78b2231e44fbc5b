"""The queue: ids as JSON, and a Redis that may be absent."""

import json
import time

import pytest
import redis

from app.jobs.embedded import free_port
from app.jobs.queue import Queue, QueueUnavailable, redis_settings


async def test_a_job_is_json_with_one_id(redis_url: str) -> None:
    """Nothing in Redis can be more than a wake-up call; the same id may be sent again."""
    queue = Queue(redis_url)
    for _ in range(2):
        await queue.admit("g-1")
        await queue.wake("r-1")
    await queue.ping()
    await queue.close()
    with redis.Redis.from_url(redis_url) as client:
        jobs = [json.loads(client.get(key)) for key in client.keys("arq:job:*")]
    assert sorted((job["f"], job["a"]) for job in jobs) == [
        ("admit", ["g-1"]),
        ("admit", ["g-1"]),
        ("wake", ["r-1"]),
        ("wake", ["r-1"]),
    ]


async def test_an_absent_redis_is_said_quickly() -> None:
    """One error that says so, within seconds; the queue stays usable for later."""
    queue = Queue(f"redis://127.0.0.1:{free_port()}/0")
    began = time.monotonic()
    for send in (queue.admit, queue.wake):
        with pytest.raises(QueueUnavailable, match="Redis does not answer"):
            await send("x")
    with pytest.raises(QueueUnavailable):
        await queue.ping()
    assert time.monotonic() - began < 10
    await queue.close()


async def test_the_queue_reconnects(redis_url: str) -> None:
    """Connections that Redis closed do not lose the next job."""
    queue = Queue(redis_url)
    await queue.admit("g-1")
    with redis.Redis.from_url(redis_url) as client:
        client.client_kill_filter(_type="normal", skipme=True)
    await queue.admit("g-2")
    await queue.close()
    with redis.Redis.from_url(redis_url) as client:
        assert len(client.keys("arq:job:*")) == 2


def test_a_url_is_read_whole() -> None:
    """User and password are decoded, TLS checks the host name, the database is kept."""
    read = redis_settings("rediss://us%40er:p%2Fw@redis.example.com:7000/3", retries=1)
    assert (read.host, read.port, read.database) == ("redis.example.com", 7000, 3)
    assert (read.username, read.password) == ("us@er", "p/w")
    assert read.ssl
    assert read.ssl_check_hostname


def test_a_socket_is_a_url_too() -> None:
    """unix:// names a path."""
    read = redis_settings("unix:///run/redis.sock?db=2", retries=1)
    assert (read.unix_socket_path, read.database) == ("/run/redis.sock", 2)


def test_another_scheme_is_refused() -> None:
    """With the schemes that work."""
    with pytest.raises(ValueError, match="redis://"):
        redis_settings("http://example.com", retries=1)
