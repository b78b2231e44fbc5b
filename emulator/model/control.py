"""What tests and the demo steer: faults on order, holds at an address, the log of calls."""

import asyncio
import time
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

Json = Any
FaultKind = Literal[
    "400", "401", "402", "403", "404", "413", "429", "500", "502", "503", "529",
    "cut", "sse_error", "no_usage",
]  # fmt: skip


@dataclass(slots=True)
class Fault:
    """One fault still to happen: `times` more calls whose address matches the pattern."""

    kind: FaultKind
    address: str = "*"
    times: int = 1
    retry_after: float | None = None
    after_bytes: int = 200  # cut and sse_error: how much of the stream is sent before
    message: str = ""  # of an error with a status, "" = one that names the type


@dataclass(slots=True)
class Control:
    """The steerable state of one server."""

    calls: list[Json] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    holds: dict[str, asyncio.Event] = field(default_factory=dict)

    def begin(self, run: str, address: str, attempt: str, model: str) -> Json:
        """Log a call at its arrival; its `status` is None until it was answered."""
        entry = {
            "run": run,
            "address": address,
            "attempt": int(attempt) if attempt.isdigit() else 1,
            "model": model,
            "status": None,
            "time": time.time(),
        }
        self.calls.append(entry)
        return entry

    def order(self, data: Json) -> None:
        """Order a fault; raises ValueError for an unknown kind."""
        fault = Fault(**data)
        if fault.kind not in get_args(FaultKind):
            raise ValueError(f"kind must be one of {', '.join(get_args(FaultKind))}")
        self.faults.append(fault)

    def next_fault(self, address: str) -> Fault | None:
        """The first ordered fault for this address, counted down."""
        for fault in self.faults:
            if fnmatchcase(address, fault.address):
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
                return fault
        return None

    def hold(self, pattern: str) -> None:
        """Let calls whose address matches wait until `release` of the same pattern."""
        self.holds.setdefault(pattern, asyncio.Event())

    def release(self, pattern: str) -> bool:
        """Let them go on; False when nothing was held under this pattern."""
        event = self.holds.pop(pattern, None)
        if event is not None:
            event.set()
        return event is not None

    async def pass_holds(self, address: str) -> None:
        """Wait while a hold matches."""
        for pattern, event in list(self.holds.items()):
            if fnmatchcase(address, pattern):
                await event.wait()
