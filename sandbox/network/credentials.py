"""Which password of the operator goes with which request: only below the path it is for.

One host often serves many registries, each with a token of its own, and more than registries.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sandbox.network.request import Origin

# Escapes that clients use in names (@ + ! : = ~ , space). Any other could be a slash, a dot or
# another escape to the registry, which then answers for another path than the one compared here.
_PLAIN = re.compile(r"(?:[^%\\;]|%(?:40|2b|21|3a|3d|7e|2c|20))*", re.IGNORECASE)
_SCOPED = re.compile(r"/@[\w~-][\w.~-]*%2f(?=[\w~-][\w.~-]*(?:/|$))", re.IGNORECASE)  # npm's own
# The index of these lies beside its files, in one folder.
_INDEXES = {"PIP_": ("simple", "+simple"), "UV_": ("simple", "+simple"), "CARGO_": ("index",)}


@dataclass(frozen=True, slots=True)
class Credential:
    """The Authorization of one registry. `prefix` begins and ends with a slash."""

    origin: Origin
    prefix: str
    authorization: str = field(repr=False)


def authorization_for(credentials: Iterable[Credential], origin: Origin, target: str) -> str:
    """What to send with a request for a target; "" for nothing. The longest prefix wins.

    Nothing goes with a path that a registry could read as another one.
    """
    path = target.partition("?")[0]
    if not _is_plain(path):
        return ""
    fitting = [
        each for each in credentials if each.origin == origin and f"{path}/".startswith(each.prefix)
    ]
    return max(fitting, key=lambda each: len(each.prefix)).authorization if fitting else ""


def prefix_of(address: str, variable: str = "") -> str:
    """The path below which a registry's password is sent.

    The registry's own; the folder of the index for those of pip, uv and cargo, whose files often
    lie beside it. `variable` is where the address was read.
    """
    path = urlsplit(address).path.rstrip("/")
    folder, _, last = path.rpartition("/")
    ends = next((ends for name, ends in _INDEXES.items() if variable.upper().startswith(name)), ())
    return f"{folder if last in ends else path}/"


def _is_plain(path: str) -> bool:
    path = _SCOPED.sub("/@scope/", path)
    segments = path.split("/")
    return (
        _PLAIN.fullmatch(path) is not None
        and "//" not in path
        and not any(segment in (".", "..") for segment in segments)
    )
