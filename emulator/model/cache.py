"""The prefix cache: usage counted from what was really sent before.

As the API does it: an entry is written at each breakpoint, found by looking back at most 20
blocks from a breakpoint, lives five minutes (or the hour asked for) after its last use, and is not
made for prefixes under 1024 tokens. A token is four characters.
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
LIFETIME_S = {"5m": 300.0, "1h": 3600.0}
MIN_TOKENS = 1024


def tokens(value: Json) -> int:
    """Tokens of any JSON value, by its length."""
    return max(1, len(json.dumps(value, ensure_ascii=False)) // CHARACTERS_PER_TOKEN)


@dataclass(slots=True)
class PrefixCache:
    """Hashes of cached prefixes, when each was last used and how long it lives from then on.

    One for a whole server.
    """

    clock: Callable[[], float] = time.monotonic
    entries: dict[str, tuple[float, float]] = field(default_factory=dict)

    def usage(self, body: Json) -> dict[str, Json]:
        """Input tokens of a request: uncached, written to the cache and read from it.

        Their sum is the whole input. Breakpoints of this request are remembered.
        """
        now, prefixes = self.clock(), _prefixes(body)
        marks = [index for index, (_, _, lives) in enumerate(prefixes) if lives]
        read = max(
            (self._hit(prefixes, mark, now) for mark in marks),
            default=0,
        )
        written = {"5m": 0, "1h": 0}
        start = read
        for mark in marks:
            key, total, lives = prefixes[mark]
            if total >= MIN_TOKENS:
                self.entries[key] = now, max(LIFETIME_S[lives], self._lifetime(key, now))
                written[lives] += max(0, total - start)
                start = max(start, total)
        total = prefixes[-1][1] if prefixes else 0
        return {
            "input_tokens": total - start,
            "cache_creation_input_tokens": start - read,
            "cache_read_input_tokens": read,
            "cache_creation": {f"ephemeral_{name}_input_tokens": n for name, n in written.items()},
        }

    def _lifetime(self, key: str, now: float) -> float:
        """How long an entry lives from its last use, 0 when it is over."""
        used_at, lifetime_s = self.entries.get(key, (now, 0.0))
        return lifetime_s if now - used_at <= lifetime_s else 0.0

    def _hit(self, prefixes: list[tuple[str, int, str]], mark: int, now: float) -> int:
        for index in range(mark, max(-1, mark - LOOK_BACK), -1):
            key, total, _ = prefixes[index]
            if lifetime_s := self._lifetime(key, now):
                self.entries[key] = now, lifetime_s
                return total
        return 0


def _prefixes(body: Json) -> list[tuple[str, int, str]]:
    """For each block: hash of everything up to it, tokens up to it, its breakpoint's lifetime."""
    digest, total, prefixes = hashlib.sha256(str(body.get("model")).encode()), 0, []
    for block in cacheable(body):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(json.dumps(bare, sort_keys=True).encode() + b"\0")
        total += tokens(bare)
        lives = block["cache_control"].get("ttl", "5m") if "cache_control" in block else ""
        prefixes.append((digest.hexdigest(), total, lives))
    return prefixes
