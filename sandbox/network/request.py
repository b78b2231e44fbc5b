"""What a request through the proxy must look like, decided on its head alone; pure.

Only GET and HEAD without a body pass (and git's fetch where it is listed). Headers are picked
from a list: what is not on it neither leaks data in odd places nor changes what a cache keeps.
"""

import re
from dataclasses import dataclass

from sandbox.network.allow import split_authority

Headers = list[tuple[bytes, bytes]]

TARGET_LIMIT = 8000
GIT_BODY_LIMIT = 512_000
HEADERS_LIMIT = 32_000
_HEADER_COUNT = 64
_PASSED = frozenset(
    b"accept accept-encoding accept-language authorization cache-control git-protocol "
    b"if-match if-modified-since if-none-match if-range if-unmodified-since pragma range "
    b"user-agent".split()
)
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade alt-svc strict-transport-security set-cookie".split()
)
_TARGET = re.compile(rb"/[\x21-\x22\x24-\x7e]*")
_GIT = re.compile(rb"/[^?]*/git-upload-pack")
_FETCH_TYPE = b"application/x-git-upload-pack-request"


class Refused(Exception):
    """A request that does not leave; `status` and `reason` are the answer.

    `host` is set when it is the destination that is refused, not the way it was asked.
    """

    def __init__(self, status: int, reason: str, host: str = "") -> None:
        super().__init__(f"{host}: {reason}" if host else reason)
        self.status = status
        self.reason = reason
        self.host = host


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request goes."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """As a Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = {"https": 443, "http": 80}[self.scheme]
        return host if self.port == default else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request that may leave: `headers` are those passed on, without Host."""

    origin: Origin
    method: str
    target: str
    headers: tuple[tuple[bytes, bytes], ...]
    is_fetch: bool = False

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.origin.scheme}://{self.origin.authority}{self.target}"

    def header(self, name: bytes) -> bytes:
        """A header's value, b"" when it is absent."""
        return next((value for key, value in self.headers if key == name), b"")


def tunnel_origin(target: bytes) -> Origin:
    """Where a CONNECT wants to go; raises Refused for anything but host and port."""
    host, port = _authority(target)
    if port is None:
        raise Refused(400, "CONNECT needs a host and a port.")
    return Origin("https", host, port)


def read_request(method: bytes, target: bytes, headers: Headers, tunnel: Origin | None) -> Wanted:
    """Check a request's head; raises Refused with the answer.

    Inside a tunnel the target is a path and Host must name the tunnel's end; outside it is a
    whole http address, whose host wins over Host.
    """
    if len(target) > TARGET_LIMIT:
        raise Refused(414, "The address is too long.")
    if len(headers) > _HEADER_COUNT or sum(len(k) + len(v) for k, v in headers) > HEADERS_LIMIT:
        raise Refused(431, "The headers are too many or too long.")
    origin, path = (tunnel, target) if tunnel else _absolute(target)
    if not _TARGET.fullmatch(path):
        raise Refused(400, "The target is not a path.")
    named = [value for key, value in headers if key == b"host"]
    if len(named) != 1 or not _names(named[0], origin):
        raise Refused(421, "Host does not name the host that is connected to.")
    is_fetch = method == b"POST" and _is_fetch(path, headers)
    if method not in (b"GET", b"HEAD") and not is_fetch:
        raise Refused(
            405, f"{method.decode('latin-1')[:20]} is refused: a set-up may only GET and HEAD."
        )
    if not is_fetch and _has_body(headers):
        raise Refused(400, "A request must not have a body.")
    passed = _PASSED | ({b"content-type", b"content-encoding"} if is_fetch else frozenset())
    return Wanted(
        origin=origin,
        method=method.decode(),
        target=path.decode(),
        headers=tuple((key, value) for key, value in headers if key in passed),
        is_fetch=is_fetch,
    )


def response_headers(headers: Headers) -> Headers:
    """An answer's headers without those that concern one connection or the upstream's TLS."""
    named = {
        name.strip().lower()
        for key, value in headers
        if key == b"connection"
        for name in value.split(b",")
    }
    return [(key, value) for key, value in headers if key not in _HOP_BY_HOP | named]


def _absolute(target: bytes) -> tuple[Origin, bytes]:
    if not target[:7].lower() == b"http://":
        raise Refused(400, "Only http addresses can be asked for here; https needs CONNECT.")
    authority, slash, path = target[7:].partition(b"/")
    host, port = _authority(authority)
    return Origin("http", host, port or 80), slash + path or b"/"


def _authority(text: bytes) -> tuple[str, int | None]:
    if b"@" in text:
        raise Refused(400, "An address must not hold a user name.")
    try:
        return split_authority(text.decode("ascii"))
    except ValueError:
        raise Refused(400, "The address names no host.") from None


def _names(value: bytes, origin: Origin) -> bool:
    try:
        host, port = split_authority(value.decode("ascii"))
    except ValueError:
        return False
    return (host, port or (443 if origin.scheme == "https" else 80)) == (origin.host, origin.port)


def _has_body(headers: Headers) -> bool:
    return any(
        key == b"transfer-encoding" or (key == b"content-length" and value.strip() != b"0")
        for key, value in headers
    )


def _is_fetch(path: bytes, headers: Headers) -> bool:
    kinds = [value for key, value in headers if key == b"content-type"]
    return bool(_GIT.fullmatch(path)) and kinds == [_FETCH_TYPE]
