"""The allow-list proxy of one set-up, on a unix socket in this process.

https is opened and closed again here, because GET and HEAD can only be enforced on what can be
read. Everything from the container is hostile: heads are bounded in size and time, one
connection is one strictly parsed sequence of requests, nothing is buffered whole.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h11

from sandbox.network.authority import Authority
from sandbox.network.cache import Cache, Stored, cache_key, may_be_cached
from sandbox.network.credentials import Credential, authorization_for
from sandbox.network.exchange import ask, begin_keeping, find_kept
from sandbox.network.refusals import Refusals
from sandbox.network.request import (
    GIT_BODY_LIMIT,
    Headers,
    Origin,
    Refused,
    Wanted,
    read_request,
    response_headers,
    tunnel_origin,
)
from sandbox.network.upstream import BLOCK, Upstream, UpstreamFailed

HEAD_LIMIT = 32_768
CLOSE_S = 1.0


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What one set-up may use of the proxy."""

    connections: int = 256
    head_s: float = 30.0  # from its first byte to the end of a request's head
    idle_s: float = 120.0  # between requests
    send_s: float = 120.0  # a client that does not read
    total_bytes: int = 5 << 30


@dataclass
class Proxy:
    """Answers the clients of one set-up.

    `credentials` are the operator's, added below their own paths; `cache` may be shared.
    """

    upstream: Upstream
    authority: Authority
    cache: Cache | None = None
    credentials: Collection[Credential] = ()
    limits: ProxyLimits = field(default_factory=ProxyLimits)
    refusals: Refusals = field(default_factory=Refusals)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)  # the forwarder reached us
    _served: int = 0
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def listening(self, path: Path) -> AsyncIterator[None]:
        """Serve a unix socket; leaving cuts every connection at once."""
        server = await asyncio.start_unix_server(self._accept, path, limit=BLOCK)
        os.chmod(path, 0o666)  # noqa: S103 - its folder keeps others out; the forwarder has its own user
        try:
            yield
        finally:
            server.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            self.upstream.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.arrived.set()
        task = asyncio.current_task()
        assert task is not None
        if len(self._open) >= self.limits.connections:
            writer.transport.abort()
            return
        self._open.add(task)
        client = _Client(self, reader, writer)
        try:
            await client.serve()
            await client.close()
        except (OSError, TimeoutError, h11.RemoteProtocolError, h11.LocalProtocolError):
            pass  # the client went away or does not speak HTTP
        except asyncio.CancelledError:
            pass  # the set-up is over
        finally:
            client.cut()
            self._open.discard(task)

    def served(self, size: int) -> None:
        """Count what is delivered; raises Refused at the set-up's limit."""
        self._served += size
        if self._served > self.limits.total_bytes:
            raise Refused(403, "The set-up has downloaded as much as it may.")


class _Client:
    """One connection from the container."""

    def __init__(
        self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._proxy = proxy
        self._reader = reader
        self._writer = writer
        self._tunnel: Origin | None = None
        self._http = _server_state()

    def cut(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()

    async def close(self) -> None:
        """End the connection after what was written, if the peer takes that in time."""
        self._writer.close()
        async with asyncio.timeout(CLOSE_S):
            await self._writer.wait_closed()

    async def serve(self) -> None:
        """Answer requests until the connection ends or must end."""
        while True:
            request = await self._head()
            if request is None:
                return
            try:
                if request.method == b"CONNECT" and self._tunnel is None:
                    await self._open_tunnel(request)
                    continue
                await self._answer(request)
            except Refused as refused:
                self._proxy.refusals.add(refused, _asked(request, self._tunnel))
                said = await self._say(refused.status, str(refused))
                if not said or refused.status == 400:  # what follows cannot be trusted either
                    return
            except UpstreamFailed as failed:
                if not await self._say(502, str(failed)):
                    return
            if not self._is_complete():
                return
            self._http.start_next_cycle()

    def _is_complete(self) -> bool:
        """Whether this exchange ended so that another can follow; an unread body prevents it."""
        if self._http.their_state is h11.SEND_BODY:
            self._http.next_event()
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _head(self) -> h11.Request | None:
        """The next request's head; None at the end. A slow one is the end as well."""
        limits = self._proxy.limits
        if self._http.trailing_data[0] == b"":
            async with asyncio.timeout(limits.idle_s):
                data = await self._reader.read(BLOCK)
            if not data:
                return None
            self._http.receive_data(data)
        async with asyncio.timeout(limits.head_s):
            try:
                event = await self._next()
            except h11.RemoteProtocolError as error:
                await self._say(error.error_status_hint, "The request is not plain HTTP/1.1.")
                return None
        return event if isinstance(event, h11.Request) else None

    async def _next(self) -> h11.Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._reader.read(BLOCK))
        if isinstance(event, type):
            raise ConnectionError("PAUSED")
        return event

    async def _open_tunnel(self, request: h11.Request) -> None:
        """Answer a CONNECT and go on in TLS as the host it names."""
        origin = tunnel_origin(request.target)
        if any(key == b"transfer-encoding" for key, _ in request.headers):
            raise Refused(400, "CONNECT has no body.")
        await self._proxy.upstream.addresses(origin)
        if not isinstance(await self._next(), h11.EndOfMessage):
            raise Refused(400, "CONNECT has no body.")
        self._http.send(h11.Response(status_code=200, headers=[]))
        if self._http.trailing_data[0]:
            raise ConnectionError("data before the tunnel is open")
        self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self._drain()
        await self._start_tls(self._proxy.authority.context(origin.host))
        self._tunnel = origin
        self._http = _server_state()

    async def _start_tls(self, context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=BLOCK)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport = await loop.start_tls(
            self._writer.transport,
            protocol,
            context,
            server_side=True,
            ssl_handshake_timeout=self._proxy.limits.head_s,
        )
        if transport is None:
            raise ConnectionError("closed during the handshake")
        protocol.connection_made(transport)
        self._reader = reader
        self._writer = asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _answer(self, request: h11.Request) -> None:
        """Answer one request from the cache or its origin."""
        wanted = read_request(request.method, request.target, list(request.headers), self._tunnel)
        proxy = self._proxy
        if wanted.is_fetch and not proxy.upstream.allows_git(wanted.origin):
            raise Refused(405, "git fetch is refused: it needs POST, which is not listed here.")
        await proxy.upstream.addresses(wanted.origin)
        body = await self._body(GIT_BODY_LIMIT if wanted.is_fetch else 0)
        secret = authorization_for(proxy.credentials, wanted.origin, wanted.target)
        cache = proxy.cache
        if cache is None or not may_be_cached(wanted, has_credentials=bool(secret)):
            await self._pass_on(wanted, body, secret, None)
            return
        stored = await find_kept(cache, cache_key(wanted))
        if stored is None:
            await self._pass_on(wanted, body, secret, cache)
            return
        try:
            await self._serve_stored(stored)
        finally:
            stored.file.close()

    async def _body(self, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        async with asyncio.timeout(self._proxy.limits.head_s):
            while not isinstance(event := await self._next(), h11.EndOfMessage):
                if isinstance(event, h11.Data):
                    size += len(event.data)
                    parts.append(bytes(event.data))
                if size > limit:
                    raise Refused(413, "The request's body is too long.")
        return b"".join(parts)

    async def _serve_stored(self, stored: Stored) -> None:
        headers = [(k, v) for k, v in stored.headers if k not in (b"content-length", b"age")]
        headers.append((b"content-length", str(stored.size).encode()))
        self._send(h11.Response(status_code=200, headers=headers))
        for chunk in stored.chunks():
            await self._deliver(chunk)
        self._send(h11.EndOfMessage())
        await self._drain()

    async def _pass_on(self, wanted: Wanted, body: bytes, secret: str, cache: Cache | None) -> None:
        """Ask the origin and stream its answer, into the cache as well when it may be kept."""
        proxy = self._proxy
        link, answer = await ask(proxy.upstream, wanted, body, secret)
        headers = response_headers(list(answer.headers))
        writing = begin_keeping(cache, wanted, answer) if cache else None
        complete = False
        try:
            self._send(h11.Response(status_code=answer.status_code, headers=headers))
            while not isinstance(event := await link.next(), h11.EndOfMessage):
                if isinstance(event, h11.Data):
                    if writing is not None and not writing.feed(bytes(event.data)):
                        writing = None
                    await self._deliver(bytes(event.data))
            complete = True
            if writing is not None:
                writing.finish()
            self._send(h11.EndOfMessage())
            await self._drain()
        except (UpstreamFailed, Refused) as error:
            # The head is sent: all that can be said is that the body is not whole.
            if isinstance(error, Refused):
                self._proxy.refusals.add(error, wanted.url)
            self.cut()
            raise ConnectionError("the answer broke off") from error
        finally:
            if complete:
                self._proxy.upstream.release(wanted.origin, link)
            else:
                link.close()
            if writing is not None and not complete:
                writing.drop()

    async def _deliver(self, data: bytes) -> None:
        self._proxy.served(len(data))
        self._send(h11.Data(data=data))
        await self._drain()

    async def _say(self, status: int, text: str) -> bool:
        """An answer of the proxy itself; False when another one was begun already."""
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return False
        body = f"prism: {text}\n".encode()
        reason = text.encode("ascii", "replace")[:200]
        headers: Headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
        ]
        self._send(h11.Response(status_code=status, headers=headers, reason=reason))
        self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())
        await self._drain()
        return True

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")

    async def _drain(self) -> None:
        async with asyncio.timeout(self._proxy.limits.send_s):
            await self._writer.drain()


def _server_state() -> h11.Connection:
    return h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)


def _asked(request: h11.Request, tunnel: Origin | None) -> str:
    target = request.target.decode("latin-1")
    return f"https://{tunnel.authority}{target}" if tunnel else target
