"""Medians and ratios; two ways of doing a thing are measured in turn, never one after the other."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median

Work = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `goal` is what `value` must not exceed; None where there is none.

    `key` is its name in the JSON ("" = only in the table), `detail` what it was made of.
    """

    key: str
    name: str
    value: float | None
    goal: float | None
    detail: str

    @property
    def is_missed(self) -> bool:
        """Whether there is a goal and it was not reached."""
        return self.goal is not None and (self.value is None or self.value > self.goal)


async def seconds(work: Work) -> float:
    """How long one piece of work takes."""
    start = time.perf_counter()
    await work()
    return time.perf_counter() - start


async def in_turn(count: int, *works: Work) -> list[list[float]]:
    """Seconds of each work, `count` times, every second round in reverse order.

    What disturbs the machine for a while then disturbs all of them alike.
    """
    found: list[list[float]] = [[] for _ in works]
    for number in range(count):
        order = range(len(works)) if number % 2 == 0 else reversed(range(len(works)))
        for index in order:
            found[index].append(await seconds(works[index]))
    return found


def p95(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Median to median."""
    return median(ours) / median(theirs)


def ms(value: float) -> str:
    """Seconds as milliseconds."""
    return f"{value * 1000:.1f} ms"
