"""What the proxy refused, kept for the person who reads why a set-up failed."""

from sandbox.network.request import Refused

KEPT = 100


class Refusals:
    """Hosts and reasons of one set-up; bounded, because the container decides how many."""

    def __init__(self) -> None:
        self._hosts: set[str] = set()
        self._sentences: dict[str, None] = {}

    def add(self, refused: Refused, address: str) -> None:
        """Record a refusal. Query strings are left out: they may hold what must not be shown."""
        where = _shown(refused.host or address.partition("?")[0])
        if refused.host and len(self._hosts) < KEPT:
            self._hosts.add(where)
        if len(self._sentences) < KEPT:
            self._sentences[f"{where}: {refused.reason}"] = None

    def hosts(self) -> tuple[str, ...]:
        """Refused destinations, sorted."""
        return tuple(sorted(self._hosts))

    def sentences(self) -> tuple[str, ...]:
        """`destination: reason`, each once, in order."""
        return tuple(self._sentences)


def _shown(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:200])
