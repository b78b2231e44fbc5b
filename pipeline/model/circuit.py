"""When a provider is down, one call finds out for all: a circuit breaker for each model."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pipeline.errors import KeyRefused, ModelError, ModelUnavailable

FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 300.0
ACCOUNT = ""  # the circuit of the key: open, it stops every model

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Open:
    """An open circuit: why, since which trial it lasts until when, and who is trying."""

    error: ModelError
    pause_s: float
    until: float
    trial: asyncio.Event | None = None


_Trials = list[tuple[_Open, asyncio.Event]]


@dataclass(slots=True)
class Circuits:
    """The state of one provider as all calls of this process found it.

    A call that failed with all its tries opens its model's circuit, a refused key that of the
    account. While one is open calls fail at once; after `first_pause_s`, doubled for each trial
    that fails, one call may try while the others wait for how it ends.
    """

    first_pause_s: float = FIRST_PAUSE_S
    clock: Callable[[], float] = time.monotonic
    _open: dict[str, _Open] = field(default_factory=dict)

    @asynccontextmanager
    async def passing(self, model: str) -> AsyncIterator[None]:
        """Around one call with all its tries.

        Raises the error that opened the circuit, with `wait_s`, until a trial is due. An error of
        the call opens the circuit or, when the provider answered, closes it; a budget that is used
        up and a call that is given up say nothing about the provider.
        """
        mine = await self._enter(model)
        try:
            yield
        except KeyRefused as error:
            self._trip(ACCOUNT, error, mine)
            raise
        except ModelUnavailable as error:
            self._trip(model, error, mine)
            raise
        except ModelError:
            self._close(model)
            raise
        else:
            self._close(model)
        finally:
            for circuit, trial in mine:
                circuit.trial = None
                trial.set()

    def check(self, *models: str) -> None:
        """Raise the error of an open circuit whose trial is not due: work need not begin.

        Models stand in for each other, so all of their circuits must be open, or the account's.
        """
        first, known = self._open.get(ACCOUNT), [self._open.get(name) for name in models]
        if first is None and None not in known:
            first = min(filter(None, known), key=lambda each: each.until, default=None)
        if first is not None and first.until > self.clock():
            raise self._told(first)

    async def _enter(self, model: str) -> _Trials:
        """The circuits this call tries for all; waits while another call does."""
        while True:
            circuits = [self._open[name] for name in (ACCOUNT, model) if name in self._open]
            if tried := next((each.trial for each in circuits if each.trial), None):
                await tried.wait()
                continue
            for each in circuits:
                if each.until > self.clock():
                    raise self._told(each)
            mine = [(each, asyncio.Event()) for each in circuits]
            for circuit, trial in mine:
                circuit.trial = trial
            return mine

    def _trip(self, name: str, error: ModelError, mine: _Trials) -> None:
        now, known = self.clock(), self._open.get(name)
        if known is not None and all(circuit is not known for circuit, _ in mine):
            error.wait_s = max(0.0, known.until - now)  # others found out at the same time
            return
        pause_s = self.first_pause_s
        if known is not None:
            pause_s = min(known.pause_s * 2, max(LONGEST_PAUSE_S, self.first_pause_s))
        error.wait_s = max(pause_s, error.wait_s)
        self._open[name] = _Open(error, pause_s, now + error.wait_s)
        if known is None:  # said once for each outage
            _LOG.error("Runs wait for the model provider. %s", error)

    def _close(self, model: str) -> None:
        if [name for name in (ACCOUNT, model) if self._open.pop(name, None)]:
            _LOG.warning("The model provider answers again (%s).", model)

    def _told(self, circuit: _Open) -> ModelError:
        error, wait_s = circuit.error, max(0.0, circuit.until - self.clock())
        return type(error)(str(error), error.status, wait_s)
