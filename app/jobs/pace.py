"""The pace of model calls for all workers: one number in Redis, moved by one script."""

import asyncio
from typing import Any

from arq.connections import ArqRedis

from app.jobs.queue import QueueUnavailable, connect, redis_settings, translated
from pipeline.model.pace import LocalPace, Rate

TIMEOUT_S = 2.0
# As `pipeline.model.pace.take` and `held`, on Redis's clock.
_SCRIPT = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local due = tonumber(redis.call('GET', KEYS[1]) or '0')
local interval, burst, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local wait = 0
if hold > 0 then
  due = math.max(due, now + hold + burst)
else
  wait = math.max(0, due - burst - now)
  due = math.max(due, now) + interval
end
local left = math.ceil((due - now) * 1000) + 1000
redis.call('SET', KEYS[1], string.format('%.6f', due), 'PX', left)
return string.format('%.6f', wait)
"""


class RedisPace:
    """`pipeline.model.pace.Pace` shared through Redis; `name` stands for the key of the API.

    While Redis does not answer, this process keeps to the rate by itself.
    """

    def __init__(self, url: str, name: str, rate: Rate) -> None:
        self._settings = redis_settings(url, retries=0)
        self._key = f"prism:pace:{name}"
        self._rate = rate
        self._local = LocalPace(rate)
        self._pool: ArqRedis | None = None
        self._connecting = asyncio.Lock()

    async def turn(self) -> float:
        """See Pace.turn."""
        try:
            return await self._run(0.0)
        except QueueUnavailable:
            return await self._local.turn()

    async def hold(self, seconds: float) -> None:
        """See Pace.hold."""
        await self._local.hold(seconds)
        try:
            await self._run(seconds)
        except QueueUnavailable:
            return

    async def close(self) -> None:
        """Close the connections."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose(close_connection_pool=True)

    async def _run(self, hold_s: float) -> float:
        arguments: list[Any] = [self._rate.interval_s, self._rate.burst_s, hold_s]
        with translated():
            async with asyncio.timeout(TIMEOUT_S):
                async with self._connecting:
                    if self._pool is None:
                        self._pool = await connect(self._settings)
                script: Any = self._pool.register_script(_SCRIPT)
                return float(await script([self._key], arguments))
