"""How fast calls may start: one token bucket for everybody who uses the same key."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

BURST_S = 10.0  # as many calls may start at once as would in this time


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` calls in the long run, 0 for no limit; pauses count either way."""

    per_minute: float = 0.0

    @property
    def interval_s(self) -> float:
        """Seconds that one call uses up."""
        return 60.0 / self.per_minute if self.per_minute else 0.0

    @property
    def burst_s(self) -> float:
        """Seconds of calls that may be ahead of the rate."""
        return max(0.0, BURST_S - self.interval_s) if self.per_minute else 0.0


class Pace(Protocol):
    """A token bucket, shared by all calls with one key."""

    async def turn(self) -> float:
        """Take a token; returns the seconds to wait before the call may start."""

    async def hold(self, seconds: float) -> None:
        """The provider asked for a pause: no call that takes its turn later starts before."""


def take(due: float, now: float, rate: Rate) -> tuple[float, float]:
    """The bucket after one call, and its wait (generic cell rate algorithm).

    `due` is when the bucket will be full again: a single number is the whole state.
    """
    wait_s = max(0.0, due - rate.burst_s - now)
    return max(due, now) + rate.interval_s, wait_s


def held(due: float, now: float, seconds: float, rate: Rate) -> float:
    """The bucket after the provider asked for a pause."""
    return max(due, now + seconds + rate.burst_s)


@dataclass(slots=True)
class LocalPace:
    """A bucket in this process: what one worker alone needs."""

    rate: Rate = field(default_factory=Rate)
    clock: Callable[[], float] = time.monotonic
    due: float = 0.0

    async def turn(self) -> float:
        """See Pace.turn."""
        self.due, wait_s = take(self.due, self.clock(), self.rate)
        return wait_s

    async def hold(self, seconds: float) -> None:
        """See Pace.hold."""
        self.due = held(self.due, self.clock(), seconds, self.rate)
