"""Who works with an instance's containers or folders now, across processes and pid namespaces.

A file lock of the kernel: it goes with the process that holds it, however that ends, and is seen
from every container that has the same data folder.
"""

import fcntl
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path


class Presence:
    """One user of an instance: present from the first `enter` until `leave`."""

    def __init__(self, folder: Path, instance: str) -> None:
        self._path = folder / f"{sha256(instance.encode()).hexdigest()[:16]}.users"
        self._lock = -1
        self._end: weakref.finalize[[int], Presence] | None = None

    def enter(self) -> None:
        """Say that this process makes what others must not take for left over.

        Waits while somebody who is alone removes leftovers, which takes seconds at most.
        """
        if self._end is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._end = weakref.finalize(self, os.close, self._lock)
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether nobody else is present; when True nobody can enter until the end.

        Must begin and end in one thread that does not wait for the event loop.
        """
        self.enter()
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_alone = True
        except BlockingIOError:
            is_alone = False
        try:
            yield is_alone
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_SH)  # a failed attempt has lost it, too

    def leave(self) -> None:
        """Be gone; can be entered again."""
        if self._end is not None:
            self._end()
            self._end = None
