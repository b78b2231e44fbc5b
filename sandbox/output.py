"""Keep the two ends of a stream of unknown length."""

from collections import deque


class CappedOutput:
    """A byte sink that holds at most `limit` bytes: the first half and the last.

    What lies between is dropped while reading, so memory stays bounded whatever arrives.
    """

    def __init__(self, limit: int) -> None:
        self.total = 0
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def feed(self, data: bytes) -> None:
        """Add bytes to the end."""
        self.total += len(data)
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data or not self._tail_limit:
            return
        self._tail.append(data[-self._tail_limit :])
        self._tail_size += len(self._tail[-1])
        while self._tail_size - len(self._tail[0]) >= self._tail_limit:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        """How many bytes were not kept."""
        return max(0, self.total - self._head_limit - self._tail_limit)

    def value(self) -> bytes:
        """What was kept, with a marker where something is missing."""
        tail = b"".join(self._tail)
        tail = tail[len(tail) - min(len(tail), self._tail_limit) :]
        if not self.dropped:
            return bytes(self._head) + tail
        marker = f"\n[… {self.dropped} bytes left out …]\n".encode()
        return bytes(self._head) + marker + tail
