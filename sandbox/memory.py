"""Named JSON values beside a workspace: what an agent's tools remember between calls. Host side.

Repository code never sees them. Values are kept as text, so nothing that was put in or taken out
can be changed behind the memory's back.
"""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.errors import NotAllowed

MAX_NAMES = 64
MAX_NAME = 100  # characters
MAX_VALUE = 64_000  # characters of JSON, as are all following
MAX_TOTAL = 1_000_000


class Memory:
    """Bounded in count and size; insertion order is kept."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self._texts = dict(texts or {})

    def names(self) -> tuple[str, ...]:
        """All names, oldest first; a name put again keeps its place."""
        return tuple(self._texts)

    def get(self, name: str) -> Any:
        """A copy of the value, None when there is none."""
        text = self._texts.get(name)
        return None if text is None else json.loads(text)

    def put(self, name: str, value: Any) -> None:
        """Remember a value; raises NotAllowed for what is no JSON or beyond the bounds."""
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise NotAllowed(f"{name[:MAX_NAME]!r} cannot be remembered: {error}") from error
        others = {known: kept for known, kept in self._texts.items() if known != name}
        if not name or len(name) > MAX_NAME:
            raise NotAllowed(f"A name in memory has 1 to {MAX_NAME} characters.")
        if len(others) >= MAX_NAMES:
            raise NotAllowed(f"The memory holds {MAX_NAMES} values; forget one first.")
        if len(text) > MAX_VALUE or len(text) + sum(map(len, others.values())) > MAX_TOTAL:
            raise NotAllowed(f"{name!r} is too large for the memory ({len(text)} characters).")
        self._texts[name] = text

    def forget(self, name: str) -> None:
        """Remove a value; one that is not there is no error."""
        self._texts.pop(name, None)

    def copy(self) -> "Memory":
        """The same values from now on apart: what a forked workspace starts with."""
        return Memory(self._texts)
