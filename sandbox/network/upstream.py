"""Connections to registries: the address that was checked is the one connected to.

One connection serves many requests, several at once to a host each have their own.
"""

import asyncio
import ssl
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress

import h11

from sandbox.network.address import Resolver, address_refusal
from sandbox.network.allow import AllowList
from sandbox.network.request import Origin, Refused

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[str, int, ssl.SSLContext | None, str], Awaitable[Streams]]

CONNECT_S, READ_S, IDLE_S = 15.0, 60.0, 20.0
BLOCK = 131_072
_HEAD_LIMIT = 65_536
_ADDRESSES = 4  # tried in turn
_UNCHECKED = (
    "only a wildcard lists it, and the proxy of this network would look it up unchecked; name "
    "the host itself"
)


class UpstreamFailed(Exception):
    """A registry that does not answer, or not in HTTP; the message is for the set-up's log."""


class Link:
    """One connection to a registry, in the middle of at most one request."""

    def __init__(self, streams: Streams) -> None:
        self.reader, self.writer = streams
        self.state = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD_LIMIT)
        self.idle_since = 0.0
        self.is_used = False

    async def send(self, *events: h11.Event) -> None:
        """Write events of a request."""
        for event in events:
            self.writer.write(self.state.send(event) or b"")
        await self.writer.drain()

    async def next(self) -> h11.Event:
        """The next event of the answer; raises UpstreamFailed when there is none in time."""
        try:
            while (event := self.state.next_event()) is h11.NEED_DATA:
                async with asyncio.timeout(READ_S):
                    self.state.receive_data(await self.reader.read(BLOCK))
        except (h11.RemoteProtocolError, OSError, TimeoutError) as error:
            raise UpstreamFailed(f"The registry's answer broke off: {error or 'silence'}") from None
        if isinstance(event, type):  # PAUSED: it speaks out of turn
            raise UpstreamFailed("The registry's answer is not HTTP.")
        return event

    def close(self) -> None:
        """Cut the connection."""
        self.writer.transport.abort()


async def connect(address: str, port: int, tls: ssl.SSLContext | None, host: str) -> Streams:
    """Open a connection to an address, as `host` in TLS."""
    return await asyncio.open_connection(
        address, port, ssl=tls, server_hostname=host if tls else None, limit=BLOCK
    )


class Upstream:
    """Reaches origins of an allow list.

    `tls` says whom upstream certificates are checked against; `own` are this machine's
    addresses. `dial` opens the connections (tests lead it to a server of theirs). Where names
    are `relayed`, the operator's own proxy resolves them and nothing is looked up here: only
    hosts that somebody wrote down are asked of it, because their addresses cannot be checked.
    """

    def __init__(
        self,
        allowed: AllowList,
        resolver: Resolver,
        tls: ssl.SSLContext,
        own: frozenset[str],
        dial: Connect = connect,
        relayed: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._allowed = allowed
        self._resolver = resolver
        self._tls = tls
        self._own = own
        self._dial = dial
        self._relayed = relayed
        self._idle: defaultdict[Origin, list[Link]] = defaultdict(list)

    async def addresses(self, origin: Origin) -> tuple[str, ...]:
        """Where an origin may be reached; raises Refused when it may not.

        Refusals say why: not listed, a port that is not, or an address that no list can open.
        """
        entries = self._allowed.find(origin.host, origin.port)
        if not entries:
            known = self._allowed.knows(origin.host)
            reason = (
                "this set-up may not reach that port" if known else "this set-up may not reach it"
            )
            raise Refused(403, reason, _refused_name(origin))
        private = any(entry.private_allowed for entry in entries)
        if self._relayed(origin.host):
            if not private:
                raise Refused(403, _UNCHECKED, _refused_name(origin))
            return (origin.host,)
        found = await self._resolver.addresses(origin.host)
        if not found:
            raise UpstreamFailed(f"{origin.host} has no address.")
        refusals = {
            each: address_refusal(each, self._own, private_allowed=private) for each in found
        }
        usable = tuple(each for each, refusal in refusals.items() if not refusal)
        if not usable:
            raise Refused(403, f"{found[0]}: {refusals[found[0]]}", _refused_name(origin))
        return usable

    def allows_git(self, origin: Origin) -> bool:
        """Whether git may fetch from an origin, which takes POST."""
        return any(entry.git for entry in self._allowed.find(origin.host, origin.port))

    async def link(self, origin: Origin, *, fresh: bool = False) -> Link:
        """A connection to an origin, an idle one unless `fresh`; raises as `addresses` does."""
        addresses = await self.addresses(origin)
        while not fresh and self._idle[origin]:
            link = self._idle[origin].pop()
            if time.monotonic() - link.idle_since < IDLE_S and not link.reader.at_eof():
                link.is_used = True
                return link
            link.close()
        why: Exception | None = None
        for address in addresses[:_ADDRESSES]:
            try:
                async with asyncio.timeout(CONNECT_S):
                    tls = self._tls if origin.scheme == "https" else None
                    return Link(await self._dial(address, origin.port, tls, origin.host))
            except (OSError, TimeoutError) as error:
                why = error
        raise UpstreamFailed(f"{origin.host} cannot be reached: {why or 'no answer in time'}")

    def release(self, origin: Origin, link: Link) -> None:
        """Keep a connection whose request is complete, or cut it when it cannot serve another."""
        with suppress(h11.LocalProtocolError):
            link.state.start_next_cycle()
            if link.state.trailing_data[0] == b"":
                link.idle_since = time.monotonic()
                self._idle[origin].append(link)
                return
        link.close()

    def close(self) -> None:
        """Cut what is idle."""
        for links in self._idle.values():
            for link in links:
                link.close()
        self._idle.clear()


def tls_context(bundle: bytes) -> ssl.SSLContext:
    """Check registries against this machine's authorities (a PEM bundle, b"" = the system's)."""
    context = ssl.create_default_context(cadata=bundle.decode("ascii", "ignore") or None)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _refused_name(origin: Origin) -> str:
    return origin.host if origin.port in (80, 443) else f"{origin.host}:{origin.port}"
