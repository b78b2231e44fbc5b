"""The prefix cache: usage counted from what was really sent before.

As the API does it: an entry is written at each breakpoint, found by looking back at most 20
blocks from a breakpoint, lives five minutes after its last use, and is not made for prefixes
under 1024 tokens. A token is four characters.
"""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from emulator.model.validation import cacheable

Json = Any

CHARACTERS_PER_TOKEN = 4
LOOK_BACK = 20
LIFETIME_S = 300.0
MIN_TOKENS = 1024


def tokens(value: Json) -> int:
    """Tokens of any JSON value, by its length."""
    return max(1, len(json.dumps(value, ensure_ascii=False)) // CHARACTERS_PER_TOKEN)


@dataclass(slots=True)
class PrefixCache:
    """Hashes of cached prefixes and when they were last used; one for a whole server."""

    clock: Callable[[], float] = time.monotonic
    used_at: dict[str, float] = field(default_factory=dict)

    def usage(self, body: Json) -> dict[str, int]:
        """Input tokens of a request: uncached, written to the cache and read from it.

        Their sum is the whole input. Breakpoints of this request are remembered.
        """
        now, prefixes = self.clock(), _prefixes(body)
        marks = [index for index, (_, _, marked) in enumerate(prefixes) if marked]
        read = max(
            (self._hit(prefixes, mark, now) for mark in marks),
            default=0,
        )
        written = 0
        for mark in marks:
            key, total, _ = prefixes[mark]
            if total >= MIN_TOKENS:
                self.used_at[key] = now
                written = max(written, total - read)
        total = prefixes[-1][1] if prefixes else 0
        return {
            "input_tokens": total - read - written,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
        }

    def _hit(self, prefixes: list[tuple[str, int, bool]], mark: int, now: float) -> int:
        for index in range(mark, max(-1, mark - LOOK_BACK), -1):
            key, total, _ = prefixes[index]
            if now - self.used_at.get(key, -LIFETIME_S - 1 + now) <= LIFETIME_S:
                self.used_at[key] = now
                return total
        return 0


def _prefixes(body: Json) -> list[tuple[str, int, bool]]:
    """For each block: hash of everything up to it, tokens up to it, whether it is a breakpoint."""
    digest, total, prefixes = hashlib.sha256(str(body.get("model")).encode()), 0, []
    for block in cacheable(body):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(json.dumps(bare, sort_keys=True).encode() + b"\0")
        total += tokens(bare)
        prefixes.append((digest.hexdigest(), total, "cache_control" in block))
    return prefixes
