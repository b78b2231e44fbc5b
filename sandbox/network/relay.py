"""Reach registries through a proxy of the operator's network, where that is the only way.

Such a proxy resolves names and decides itself; what is known here is whom it is asked for.
"""

import asyncio
import base64
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from sandbox.network.allow import split_authority
from sandbox.network.upstream import BLOCK, Streams

_LOG = logging.getLogger(__name__)
_ANSWER_LIMIT = 16_384


@dataclass(frozen=True, slots=True)
class Relay:
    """An http proxy that tunnels, from HTTPS_PROXY; `direct` are NO_PROXY's names and domains."""

    host: str
    port: int
    authorization: str = field(default="", repr=False)
    direct: tuple[str, ...] = ()

    def serves(self, host: str) -> bool:
        """Whether a host is reached through the proxy; addresses never are."""
        try:
            ip_address(host)
        except ValueError:
            return not any(rule in ("*", host) or host.endswith("." + rule) for rule in self.direct)
        return False

    async def dial(self, host: str, port: int, tls: ssl.SSLContext | None) -> Streams:
        """A connection to a host by name; raises OSError when the proxy does not make one."""
        reader, writer = await asyncio.open_connection(self.host, self.port, limit=BLOCK)
        try:
            secret = f"Proxy-Authorization: {self.authorization}\r\n" if self.authorization else ""
            ask = f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{secret}\r\n"
            writer.write(ask.encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            status = answer[:_ANSWER_LIMIT].split(b" ", 2)[1:2]
            if status != [b"200"]:
                said = answer.partition(b"\r\n")[0].decode("latin-1")[:100]
                raise ConnectionError(f"the proxy of this network says {said}")
            if tls:
                await writer.start_tls(tls, server_hostname=host)
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            writer.transport.abort()
            raise ConnectionError("the proxy of this network does not answer") from error
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer


def relay_in(environ: Mapping[str, str]) -> Relay | None:
    """The proxy HTTPS_PROXY or ALL_PROXY names, else None; a wrong one is warned of.

    Only http proxies: they tunnel https all the same.
    """
    names = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    value = next((environ[name] for name in names if environ.get(name)), "")
    if not value:
        return None
    parts = urlsplit(value if "://" in value else f"http://{value}")
    try:
        host, port = split_authority(parts.netloc.rpartition("@")[2])
    except ValueError:
        host, port = "", None
    if parts.scheme != "http" or not host:
        _LOG.warning("HTTPS_PROXY is not used for set-ups: it is no http:// address.")
        return None
    user = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    secret = "Basic " + base64.b64encode(user.encode()).decode() if parts.username else ""
    direct = environ.get("NO_PROXY") or environ.get("no_proxy") or ""
    rules = tuple(rule.strip().lower().lstrip("*.") or "*" for rule in direct.split(",") if rule)
    return Relay(host, port or 80, secret, rules)
