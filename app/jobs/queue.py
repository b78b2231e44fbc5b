"""Enqueue, and nothing else: the only part of jobs the web process imports.

A job is a wake-up call with one id in it. Losing one costs a sweep's delay, never work.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from arq.connections import ArqRedis, RedisSettings, create_pool
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

QUEUE_NAME = "prism:queue"
ENQUEUE_TIMEOUT_S = 3.0


class QueueUnavailable(ConnectionError):
    """Redis does not answer; what should have been woken is found by the next sweep."""


def serialize(job: dict[str, Any]) -> bytes:
    """A job as JSON: whoever writes to Redis must not be able to run code in the worker."""
    return json.dumps(job, default=repr).encode()


def deserialize(data: bytes) -> dict[str, Any]:
    """The job back; arq rejects it when it is not an object with its keys."""
    job: dict[str, Any] = json.loads(data)
    return job


def redis_settings(url: str, retries: int) -> RedisSettings:
    """arq's settings for a redis://, rediss:// or unix:// URL.

    arq's own reader does not decode user and password and leaves the host name of a certificate
    unchecked. `ssl_ca_certs` may be given as a query. A failing command is tried again
    `retries` times, at most 2 s apart.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"redis", "rediss", "unix"}:
        raise ValueError(f"REDIS_URL must start with redis://, rediss:// or unix://, not {url!r}.")
    query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    path = "" if parts.scheme == "unix" else parts.path.strip("/")
    return RedisSettings(
        host=parts.hostname or "localhost",
        port=parts.port or 6379,
        unix_socket_path=parts.path if parts.scheme == "unix" else None,
        database=int(query.get("db", path or 0)),
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        ssl=parts.scheme == "rediss",
        ssl_ca_certs=query.get("ssl_ca_certs"),
        ssl_check_hostname=parts.scheme == "rediss",
        conn_retries=0,
        retry=Retry(ExponentialBackoff(cap=2, base=0.2), retries),
        retry_on_error=[RedisConnectionError, RedisTimeoutError],
        retry_on_timeout=True,
    )


async def connect(settings: RedisSettings) -> ArqRedis:
    """A pool for our queue and serializer; raises QueueUnavailable. The caller closes it."""
    with translated():
        return await create_pool(
            settings,
            job_serializer=serialize,
            job_deserializer=deserialize,
            default_queue_name=QUEUE_NAME,
        )


class Queue:
    """Sends wake-up calls; connects when first used and again after a failure."""

    def __init__(self, url: str) -> None:
        self._settings = redis_settings(url, retries=1)
        self._pool: ArqRedis | None = None
        self._connecting = asyncio.Lock()

    async def admit(self, delivery_id: str) -> None:
        """Have a worker look at a delivery; raises QueueUnavailable."""
        await self._enqueue("admit", delivery_id)

    async def wake(self, run_id: str) -> None:
        """Have a worker claim a run; raises QueueUnavailable."""
        await self._enqueue("wake", run_id)

    async def ping(self) -> None:
        """Return when Redis answers; raises QueueUnavailable."""
        with translated():
            async with asyncio.timeout(ENQUEUE_TIMEOUT_S):
                await (await self._connected()).ping()

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.aclose(close_connection_pool=True)
            self._pool = None

    async def _enqueue(self, function: str, argument: str) -> None:
        with translated():
            async with asyncio.timeout(ENQUEUE_TIMEOUT_S):
                pool = await self._connected()
                await pool.enqueue_job(function, argument)  # without an id: a fresh one

    async def _connected(self) -> ArqRedis:
        async with self._connecting:
            if self._pool is None:
                self._pool = await connect(self._settings)
            return self._pool


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except QueueUnavailable:
        raise
    except (RedisError, OSError) as error:  # TimeoutError is an OSError
        reason = str(error) or "no answer in time"
        raise QueueUnavailable(f"Redis does not answer: {reason}") from error
