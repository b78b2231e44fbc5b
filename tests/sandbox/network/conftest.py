"""A registry on this machine's loopback interface, and a proxy that believes it is outside."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h11
import pytest

from sandbox.network.address import Resolver
from sandbox.network.allow import allow_list
from sandbox.network.authority import Authority
from sandbox.network.proxy import Proxy
from sandbox.network.upstream import Upstream, connect, tls_context

OUTSIDE = "203.0.113.7"  # where every name leads unless a test says otherwise


@dataclass
class Answer:
    """What the registry says: `body` in one piece, or chunked; `cut` ends it early."""

    body: bytes = b"ok"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    chunked: bool = False
    cut: bool = False
    close: bool = False


@dataclass
class Registry:
    """An HTTP server that answers by path and remembers what reached it."""

    authority: Authority
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    connections: int = 0
    secure_port: int = 0
    plain_port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        try:
            await self._requests(reader, writer)
        except (OSError, h11.RemoteProtocolError):
            pass
        finally:
            writer.transport.abort()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state = h11.Connection(h11.SERVER)
        while True:
            request, body = None, b""
            while not isinstance(event := state.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    state.receive_data(await reader.read(65536))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    body += event.data
                else:
                    return
            assert request is not None
            target = request.target.decode()
            headers = {key.decode(): value.decode() for key, value in request.headers}
            self.requests.append((request.method.decode(), target, headers, body))
            answer = self.answers.get(target.partition("?")[0], Answer(b"missing", 404))
            if not await self._answer(state, writer, answer, request.method):
                return
            state.start_next_cycle()

    @staticmethod
    async def _answer(
        state: Any, writer: asyncio.StreamWriter, answer: Answer, method: bytes
    ) -> bool:
        length = () if answer.chunked else (("content-length", str(len(answer.body))),)
        events: list[Any] = [
            h11.Response(status_code=answer.status, headers=[*answer.headers, *length])
        ]
        half = len(answer.body) // 2 if answer.cut else len(answer.body)
        if method != b"HEAD":
            events.append(h11.Data(data=answer.body[:half]))
        for event in events:
            writer.write(state.send(event) or b"")
            await writer.drain()
        if answer.cut:
            return False
        writer.write(state.send(h11.EndOfMessage()) or b"")
        await writer.drain()
        return not answer.close


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    """A server with a certificate of its own authority, in plain text as well."""
    found = Registry(Authority())
    context = found.authority.context("registry.test")
    names: dict[str, ssl.SSLContext] = {}

    def by_name(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name:
            connection.context = names.setdefault(name, found.authority.context(name))

    context.sni_callback = by_name
    secure = await asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=context)
    plain = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.secure_port = secure.sockets[0].getsockname()[1]
    found.plain_port = plain.sockets[0].getsockname()[1]
    yield found
    secure.close()
    plain.close()


@dataclass
class Client:
    """One connection to the proxy, as a program in the container has it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def head(self) -> tuple[int, dict[str, str]]:
        """Read an answer's head."""
        text = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = text.split("\r\n")
        rows = (line.partition(": ") for line in lines if line)
        return int(first.split()[1]), {key.lower(): value for key, _, value in rows}

    async def answer(self, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """Read a whole answer."""
        status, headers = await self.head()
        if method == "HEAD" or status == 304:
            return status, headers, b""
        if "content-length" in headers:
            return status, headers, await self.reader.readexactly(int(headers["content-length"]))
        body = b""
        while size := int(await self.reader.readuntil(b"\n"), 16):
            body += (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readline()
        return status, headers, body

    async def ask(
        self, target: str, host: str, method: str = "GET", *headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request and read its answer."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", *headers, "", ""]
        await self.raw("\r\n".join(lines).encode())
        return await self.answer(method)

    async def tunnel(self, authority: str) -> int:
        """Ask for a tunnel; returns the status."""
        await self.raw(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        return (await self.head())[0]

    async def is_closed(self) -> bool:
        """Whether the proxy ended the connection, after whatever it still says."""
        async with asyncio.timeout(5):
            try:
                while await self.reader.read(65536):
                    pass
            except ConnectionError:
                pass
        return True


@dataclass
class Way:
    """A listening proxy and what it did."""

    proxy: Proxy
    path: Path
    names: dict[str, tuple[str, ...]]
    lookups: list[str]
    dialled: list[tuple[str, int, str]]

    @asynccontextmanager
    async def client(self, tunnel: str = "") -> AsyncIterator[Client]:
        """A connection, in TLS through a tunnel to a host when one is named."""
        client = Client(*await asyncio.open_unix_connection(self.path))
        try:
            if tunnel:
                assert await client.tunnel(f"{tunnel}:443") == 200
                context = tls_context(self.proxy.authority.bundle)
                await client.writer.start_tls(context, server_hostname=tunnel)
            yield client
        finally:
            client.writer.transport.abort()

    async def get(self, url: str, *headers: str) -> tuple[int, dict[str, str], bytes]:
        """One GET on a connection of its own."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        async with self.client(host if scheme == "https" else "") as client:
            target = slash + path if scheme == "https" else url
            return await client.ask(target, host, "GET", *headers)


OpenWay = Callable[..., AbstractAsyncContextManager[Way]]


@pytest.fixture
def open_way(registry: Registry, tmp_path: Path) -> OpenWay:
    """Open a proxy for given hosts; other arguments are the proxy's own."""

    @asynccontextmanager
    async def opened(
        *hosts: str,
        names: dict[str, tuple[str, ...]] | None = None,
        lookup: Callable[[str], Awaitable[tuple[str, ...]]] | None = None,
        own: frozenset[str] = frozenset(),
        **rest: Any,
    ) -> AsyncIterator[Way]:
        known = names or {}
        lookups: list[str] = []
        dialled: list[tuple[str, int, str]] = []

        async def find(host: str) -> tuple[str, ...]:
            lookups.append(host)
            return await lookup(host) if lookup else known.get(host, (OUTSIDE,))

        async def dial(address: str, port: int, tls: ssl.SSLContext | None, host: str) -> Any:
            dialled.append((address, port, host))
            here = registry.secure_port if tls else registry.plain_port
            return await connect("127.0.0.1", here, tls, host)

        upstream = Upstream(
            allow_list(hosts), Resolver(find), tls_context(registry.authority.bundle), own, dial
        )
        way = Way(Proxy(upstream, Authority(), **rest), tmp_path / "s", known, lookups, dialled)
        async with way.proxy.listening(way.path):
            yield way

    return opened


@pytest.fixture
def answer() -> type[Answer]:
    """How to make an answer of the registry."""
    return Answer
