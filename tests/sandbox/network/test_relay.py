"""Registries behind the proxy of the operator's network."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sandbox.network.relay import Relay, relay_in
from sandbox.network.upstream import tls_context


@pytest.fixture
async def network_proxy(registry) -> AsyncIterator[tuple[int, list[str]]]:
    """A proxy that leads every tunnel it likes to the test's registry; its port, what it heard."""
    heard: list[str] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
        except OSError:
            pass
        writer.transport.abort()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        heard.append(head)
        if "secret.test" in head:
            writer.write(b"HTTP/1.1 407 Who are you\r\n\r\n")
            writer.close()
            return
        inner, outer = await asyncio.open_connection("127.0.0.1", registry.secure_port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(copy(reader, outer), copy(inner, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()


async def test_registries_by_a_network_proxy(registry, answer, network_proxy) -> None:
    """The tunnel goes to the name, TLS is the registry's own, the password is the proxy's alone."""
    port, heard = network_proxy
    registry.answers["/"] = answer()
    relay = relay_in({"HTTPS_PROXY": f"http://me:word@127.0.0.1:{port}"})
    assert relay is not None
    tls = tls_context(registry.authority.bundle)
    reader, writer = await relay.dial("registry.test", 443, tls)
    writer.write(b"GET / HTTP/1.1\r\nHost: registry.test\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.transport.abort()
    assert "CONNECT registry.test:443" in heard[0]
    assert "Proxy-Authorization: Basic bWU6d29yZA==" in heard[0]
    assert "word" not in repr(relay)
    with pytest.raises(ConnectionError, match="407 Who are you"):
        await relay.dial("secret.test", 443, tls)


async def test_names_are_not_looked_up(open_way) -> None:
    """Where the network's proxy resolves names, the allow list still decides."""
    async with open_way("registry.test") as way:
        way.proxy.upstream._relayed = Relay("p.test", 3128, direct=("inside.test",)).serves
        assert (await way.get("https://registry.test/"))[0] == 404
        assert (way.lookups, way.dialled) == ([], [("registry.test", 443, "registry.test")])
        async with way.client() as client:
            assert await client.tunnel("evil.test:443") == 403


@pytest.mark.parametrize("entry", ["*", "*.test", "public+registry.test", "*.test:443"])
async def test_wildcards_do_not_reach_a_network_proxy(open_way, entry: str) -> None:
    """It would resolve a name that nobody wrote down, to an address that nobody checks."""
    async with open_way(entry) as way:
        way.proxy.upstream._relayed = Relay("p.test", 3128, direct=("direct.test",)).serves
        async with way.client() as client:
            assert await client.tunnel("registry.test:443") == 403
        assert (way.lookups, way.dialled) == ([], [])
        assert "name the host itself" in way.proxy.refusals.sentences()[0]
    async with open_way(entry, "registry.test") as way:
        way.proxy.upstream._relayed = Relay("p.test", 3128).serves
        assert (await way.get("https://registry.test/"))[0] == 404


def test_which_names_are_relayed() -> None:
    """All but those of NO_PROXY, and never an address."""
    relay = relay_in({"https_proxy": "proxy.test:8080", "NO_PROXY": "corp.test,.b.test,*.c.test"})
    assert relay == Relay("proxy.test", 8080, "", ("corp.test", "b.test", "c.test"))
    served = (
        "pypi.org",
        "notcorp.test",
        "corp.test",
        "a.corp.test",
        "a.b.test",
        "c.test",
        "10.0.0.1",
    )
    assert [relay.serves(host) for host in served] == [
        True,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert not Relay("p.test", 1, direct=("*",)).serves("pypi.org")
    assert relay_in({"HTTP_PROXY": "http://proxy.test"}) is None
    for wrong in ("socks5://proxy.test:1080", "http://", "http://a b"):
        assert relay_in({"ALL_PROXY": wrong}) is None
