"""The way out of a set-up container: its own proxy, reached by a forwarder in its network.

The container has no network. A second one shares its loopback interface and carries bytes from
one port to the proxy's unix socket; the proxy decides what leaves this machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def _none() -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Egress:
    """What set-up lines need to use the way out, and what it refused so far.

    `env` are variables of every line, `bundle` the one certificate authority they must trust;
    neither is worth anything once the way is closed. `denied` gives refused hosts, sorted;
    `refusals` one sentence each, first ones first, for the log.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    bundle: bytes = b""
    denied: Callable[[], tuple[str, ...]] = _none
    refusals: Callable[[], tuple[str, ...]] = _none
