"""What one agent may use, whatever its run still has."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pipeline.model.contexts import CONTEXT_TOKENS
from pipeline.services import RunConfig

SHORT = 0.2


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """`turns` are calls of the model; `context_tokens` what one call may send, see `compaction`.

    `seconds` are for all of it, waiting for the model included.
    """

    turns: int
    context_tokens: int = CONTEXT_TOKENS
    seconds: float = math.inf


class TimeUp(Exception):
    """An agent's time is over; the message says how much it was."""


class Clock:
    """An agent's time, running from here on; `seconds` may be infinite."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def is_short(self) -> bool:
        """Whether less than a fifth is left."""
        return self._end - time.monotonic() < self._seconds * SHORT

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ends what is waited for in it when the time is over: raises TimeUp."""
        left = self._end - time.monotonic()
        over = TimeUp(f"its {self._seconds / 60:.3g} minutes are over")
        if left <= 0:
            raise over
        timer = asyncio.timeout(left if left < math.inf else None)
        try:
            async with timer:
                yield
        except TimeoutError:
            if timer.expired():
                raise over from None
            raise


def limits_of(config: RunConfig, turns: int) -> AgentLimits:
    """The limits of an agent with so many turns."""
    return AgentLimits(turns, config.context_tokens, config.item_minutes * 60)
