"""Calls with the same beginning: the first one writes it to the cache, the others wait for that.

A provider's entry can be read once the answer to the call that wrote it has begun; calls sent
together would each write, and pay for, the same.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipeline.model.wire import bare
from pipeline.services import Json

MAX_WAIT_S = 20.0
LIFETIME_S = 240.0  # a little less than an entry lives


@dataclass(slots=True)
class Warming:
    """What one run has written lately, by beginning; nobody waits longer than `max_wait_s`."""

    max_wait_s: float = MAX_WAIT_S
    clock: Callable[[], float] = time.monotonic
    _written: dict[str, float] = field(default_factory=dict)
    _writing: dict[str, asyncio.Event] = field(default_factory=dict)

    @asynccontextmanager
    async def after_first(self, body: dict[str, Json]) -> AsyncIterator[Callable[[], None]]:
        """Around one call; tell the given function when its answer begins."""
        key = beginning(body)
        if not await self._is_first(key):
            self._written[key] = self.clock()
            yield _nothing
            return
        mine = self._writing[key] = asyncio.Event()

        def begun() -> None:
            self._written[key] = self.clock()
            mine.set()

        try:
            yield begun
        finally:
            mine.set()  # failed: the next one is the first
            if self._writing.get(key) is mine:
                del self._writing[key]

    async def _is_first(self, key: str) -> bool:
        if not key:
            return False
        end = self.clock() + self.max_wait_s
        while self.clock() - self._written.get(key, -LIFETIME_S) >= LIFETIME_S:
            writing = self._writing.get(key)
            if writing is None:
                return True
            try:
                async with asyncio.timeout(max(0.0, end - self.clock())):
                    await writing.wait()
            except TimeoutError:
                return False  # go on without
            if key not in self._written:
                await asyncio.sleep(0)  # it failed and is about to leave
        return False


def beginning(body: dict[str, Json]) -> str:
    """What calls share up to the first breakpoint of their messages, "" without one."""
    blocks: list[Json] = []
    for message in body["messages"]:
        for block in message["content"]:
            blocks.append(bare(block))
            if "cache_control" in block:
                text = json.dumps([body["model"], body.get("tools"), body.get("system"), blocks])
                return hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return ""


def _nothing() -> None:
    return
