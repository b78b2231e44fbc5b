"""How long one parse may run and how much memory it may take, as far as it can be asked.

Hostile text makes a parser keep many readings: 60 kB of `a<a<a<` as Java take gigabytes. The last
step, at the end of the text, cannot be watched: whole repositories are parsed by
`pipeline.index.workers`, in processes with a limit of their own.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import thread_time

MAX_GROWTH = 400_000_000
_STATM = Path("/proc/self/statm")
_EVERY = 64


@contextmanager
def watch(end: float) -> Iterator[Callable[..., bool]]:
    """A check to call again and again: whether this thread's processor time is past `end` or memory
    grew by 400 MB. A busy machine must not make an honest file look like a trap.

    Memory is looked at where the system tells it in /proc.
    """
    try:
        statm = os.open(_STATM, os.O_RDONLY)
    except OSError:
        yield lambda *_: thread_time() > end
        return
    try:
        yield _check(statm, end)
    finally:
        os.close(statm)


def _check(statm: int, end: float) -> Callable[..., bool]:
    page = os.sysconf("SC_PAGE_SIZE")
    calls = 0
    limit = 0

    def exceeded(*_progress: object) -> bool:
        nonlocal calls, limit
        calls += 1
        if calls % _EVERY == 0:
            resident = int(os.pread(statm, 100, 0).split()[1]) * page
            limit = limit or resident + MAX_GROWTH
            if resident > limit:
                return True
        return thread_time() > end

    return exceeded
