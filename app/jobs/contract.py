"""What the worker is given: the two things it does with the ids it is woken with."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from app.ledger.runs import Claim

Admit = Callable[[str], Awaitable[Sequence[str]]]
"""Look at a delivery (by id), mark it in the inbox, return the ids of runs to wake.

A ConnectionError, TimeoutError, RateLimited or Later means "not now" and is tried again for a
day; with any other error the third failure makes the delivery poison.
"""


@dataclass(frozen=True, slots=True)
class Times:
    """How long ownership lasts, and the wait when something outside cannot be reached."""

    lease_s: float = 60.0
    reconnect_s: float = 30.0


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended: a terminal state and one sentence for people."""

    state: str
    outcome: str


RunBody = Callable[[Claim], Awaitable[RunEnd]]
"""Work on a claimed run until its end.

It is cancelled when the claim is lost or given back, and must then end what it started outside
this process. With `claim.is_exhausted` it only tells people that the run is given up.
"""


class Later(Exception):
    """Not now: a run or delivery is put back and tried again after `wait_s` (at least 1).

    `state` is what a run waits in, "" to leave its state as it is.
    """

    def __init__(self, wait_s: float, reason: str, state: str = "") -> None:
        super().__init__(reason)
        self.wait_s = wait_s
        self.state = state


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The two bodies, injected: admission and the runner know GitHub, jobs does not."""

    admit: Admit
    run: RunBody
