"""Failures on order: the next matching requests fail the way a test wants them to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock


@dataclass(slots=True)
class Fault:
    """What happens to requests of `method` ("*" for any) whose path matches, `times` times.

    With `after_commit` the request is carried out and only its answer is lost: the client sees
    `status`, the work is done. `delay_s` makes the answer late.
    """

    method: str
    path: re.Pattern[str]
    status: int
    after_commit: bool = False
    times: int = 1
    delay_s: float = 0.0
    message: str = "Ordered failure"
    headers: Mapping[str, str] = field(default_factory=dict)


class Faults:
    """The orders that are still open, oldest first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: list[Fault] = []

    def add(
        self,
        method: str,
        path_regex: str,
        what: int | str,
        times: int = 1,
        *,
        headers: Mapping[str, str] | None = None,
        message: str = "Ordered failure",
        delay_s: float = 0.0,
    ) -> None:
        """Order a failure.

        `path_regex` is searched in the path below `/api/v3` (in the whole path for git). `what`
        is a status, "after_commit_502" (any status) or 0, which only delays by `delay_s`.
        """
        word = str(what)
        status = int(word.removeprefix("after_commit_"))
        fault = Fault(
            method.upper(),
            re.compile(path_regex),
            status,
            word.startswith("after_commit_"),
            times,
            delay_s,
            message,
            dict(headers or {}),
        )
        with self._lock:
            self._open.append(fault)

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for this request, used up once, or None."""
        with self._lock:
            for fault in self._open:
                if fault.method in ("*", method) and fault.path.search(path):
                    fault.times -= 1
                    if fault.times <= 0:
                        self._open.remove(fault)
                    return fault
        return None

    def clear(self) -> None:
        """Withdraw every open order."""
        with self._lock:
            self._open.clear()
