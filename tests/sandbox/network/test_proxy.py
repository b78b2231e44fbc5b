"""The proxy against a real registry over TLS, and against clients that cheat."""

import asyncio
import hashlib
import ssl

import pytest

from sandbox.network.authority import Authority
from sandbox.network.cache import Cache
from sandbox.network.credentials import Credential
from sandbox.network.proxy import ProxyLimits
from sandbox.network.request import Origin
from sandbox.network.upstream import tls_context

HOST = "registry.test"
FETCH = "Content-Type: application/x-git-upload-pack-request"


async def test_get_and_head(registry, open_way, answer) -> None:
    """Both pass in TLS and in plain text, on kept connections, with one look-up for all."""
    registry.answers["/a"] = answer(b"x" * 1000, headers=(("Etag", "1"),))
    async with open_way(HOST) as way, way.client(HOST) as client:
        for _ in range(3):
            status, headers, body = await client.ask("/a?b=c", HOST)
            assert (status, headers["etag"], len(body)) == (200, "1", 1000)
        assert (await client.ask("/a", HOST, "HEAD"))[0] == 200
        assert (await client.ask("/none", HOST))[::2] == (404, b"missing")
        assert registry.connections == 1
        assert (await way.get(f"http://{HOST}/a"))[0] == 200
        assert way.lookups == [HOST]
        assert way.dialled == [("203.0.113.7", 443, HOST), ("203.0.113.7", 80, HOST)]
        assert way.proxy.refusals.sentences() == ()


async def test_streams_what_it_passes(registry, open_way, answer) -> None:
    """A long answer of unknown length arrives whole."""
    content = hashlib.shake_128(b"a").digest(5_000_000)
    registry.answers["/big"] = answer(content, chunked=True)
    async with open_way(HOST) as way:
        status, headers, body = await way.get(f"https://{HOST}/big")
    assert (status, headers["transfer-encoding"]) == (200, "chunked")
    assert body == content


async def test_headers_are_picked(registry, open_way, answer) -> None:
    """Only known request headers leave; nothing of the connection and no cookie comes back."""
    registry.answers["/"] = answer(headers=(("Set-Cookie", "a=b"), ("Alt-Svc", "h3"), ("X-A", "1")))
    sent = ("X-Forwarded-Host: evil", "Cookie: a", "Accept: text/html", "X-Data: secret")
    async with open_way(HOST) as way:
        _, headers, _ = await way.get(f"https://{HOST}/", *sent)
    assert registry.requests[0][2] == {"host": HOST, "accept": "text/html"}
    assert "x-a" in headers
    assert not {"set-cookie", "alt-svc"} & set(headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "LOCK"])
async def test_other_methods(registry, open_way, method: str) -> None:
    """They are refused inside a tunnel and outside, before anything is connected to."""
    async with open_way(HOST) as way:
        async with way.client(HOST) as client:
            assert (await client.ask("/", HOST, method))[0] == 405
        async with way.client() as client:
            assert (await client.ask(f"http://{HOST}/", HOST, method))[0] == 405
        assert way.dialled == []
        assert way.proxy.refusals.hosts() == ()
        assert method in "".join(way.proxy.refusals.sentences())
    assert registry.requests == []


@pytest.mark.parametrize(
    ("authority", "status", "denied"),
    [
        ("elsewhere.test:443", 403, ("elsewhere.test",)),
        ("registry.test.evil.test:443", 403, ("registry.test.evil.test",)),
        ("registry.test:22", 403, ("registry.test:22",)),
        ("203.0.113.7:443", 403, ("203.0.113.7",)),
        ("127.0.0.1:443", 403, ("127.0.0.1",)),
        ("[::1]:443", 403, ("::1",)),
        ("0x7f.1:443", 400, ()),
        ("2130706433:443", 400, ()),
        ("127.1:443", 400, ()),
        ("registry.test@127.0.0.1:443", 400, ()),
        ("user:word@registry.test:443", 400, ()),
        ("registry.test", 400, ()),
        ("registry.test:", 400, ()),
        ("registry.test:443:443", 400, ()),
        ("registry.test:99999", 400, ()),
        ("registry.test/:443", 400, ()),
        ("registry..test:443", 400, ()),
        ("*:443", 400, ()),
        ("*.test:443", 400, ()),
        ("REGISTRY.TEST.:443", 200, ()),
    ],
)
async def test_tunnels(open_way, authority: str, status: int, denied: tuple[str, ...]) -> None:
    """A tunnel opens to a listed host and port by name, however that name is spelt; else not."""
    async with open_way(HOST) as way, way.client() as client:
        assert await client.tunnel(authority) == status
        assert way.lookups == ([HOST] if status == 200 else [])
        assert way.dialled == []
        assert way.proxy.refusals.hosts() == denied


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "224.0.0.1",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "198.51.100.9",
    ],
)
async def test_names_that_lead_inside(open_way, address: str) -> None:
    """A listed name that resolves to this machine or a metadata service is not connected to."""
    own = frozenset({"198.51.100.9"})
    async with open_way(HOST, names={HOST: (address,)}, own=own) as way, way.client() as client:
        assert await client.tunnel(f"{HOST}:443") == 403
        assert (way.dialled, way.proxy.refusals.hosts()) == ([], (HOST,))


async def test_private_addresses(open_way) -> None:
    """They are for hosts that somebody wrote down, not for what a wildcard lets in."""
    names = {"a.corp.test": ("10.0.0.9",), "b.corp.test": ("10.0.0.9", "93.184.215.14")}
    async with open_way("*.corp.test", names=names) as way:
        async with way.client() as client:
            assert await client.tunnel("a.corp.test:443") == 403
        assert (await way.get("https://b.corp.test/"))[0] == 404
        assert [address for address, *_ in way.dialled] == ["93.184.215.14"]
    async with open_way("public+a.corp.test", names=names) as way, way.client() as client:
        assert await client.tunnel("a.corp.test:443") == 403
    async with open_way("a.corp.test", names=names) as way:
        assert (await way.get("https://a.corp.test/"))[0] == 404


async def test_rebinding(open_way, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that was checked is the one connected to; a new one is checked anew."""
    answers = iter([("203.0.113.7",), ("127.0.0.1",)])

    async def lookup(_: str) -> tuple[str, ...]:
        return next(answers)

    async with open_way(HOST, lookup=lookup) as way:
        assert (await way.get(f"https://{HOST}/"))[0] == 404
        assert (way.lookups, way.dialled) == ([HOST], [("203.0.113.7", 443, HOST)])
        monkeypatch.setattr("sandbox.network.address.time.monotonic", lambda: 1e12)
        async with way.client() as client:
            assert await client.tunnel(f"{HOST}:443") == 403
        assert len(way.dialled) == 1


SMUGGLED = {
    "another host": b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    "another port": b"GET / HTTP/1.1\r\nHost: registry.test:8443\r\n\r\n",
    "absolute": b"GET http://evil.test/ HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: registry.test\r\nHost: evil.test\r\n\r\n",
    "no host": b"GET / HTTP/1.0\r\n\r\n",
    "fragment": b"GET /a#b HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "asterisk": b"GET * HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "body": b"GET / HTTP/1.1\r\nHost: registry.test\r\nContent-Length: 3\r\n\r\nabc",
    "chunked": b"GET / HTTP/1.1\r\nHost: registry.test\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"0\r\n\r\n",
    "length and chunks": b"GET / HTTP/1.1\r\nHost: registry.test\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "two lengths": b"GET / HTTP/1.1\r\nHost: registry.test\r\nContent-Length: 0\r\n"
    b"Content-Length: 5\r\n\r\nhello",
    "folded header": b"GET / HTTP/1.1\r\nHost: registry.test\r\nA: b\r\n  c: d\r\nX : y\r\n\r\n",
    "bare newline in a name": b"GET / HTTP/1.1\r\nHost: registry.test\r\nA\n: b\r\n\r\n",
    "space in the target": b"GET /a b HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "tunnel in a tunnel": b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
    "upgrade": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "long head": b"GET / HTTP/1.1\r\nHost: registry.test\r\nA: " + b"a" * 40_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\nHost: registry.test\r\n" + b"A: b\r\n" * 100 + b"\r\n",
    "long target": b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: registry.test\r\n\r\n",
    "no http": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
}


@pytest.mark.parametrize("kind", SMUGGLED)
async def test_smuggling(registry, open_way, kind: str) -> None:
    """What could be read in two ways is refused, and nothing of it reaches the registry."""
    async with open_way(HOST) as way, way.client(HOST) as client:
        await client.raw(SMUGGLED[kind])
        status, _ = await client.head()
        assert 400 <= status < 500
        await asyncio.sleep(0)
        assert registry.requests == []
        assert way.dialled == []


async def test_data_before_the_tunnel(registry, open_way) -> None:
    """Bytes behind a CONNECT that were sent without waiting end the connection."""
    ask = f"CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    async with open_way(HOST) as way, way.client() as client:
        await client.raw(ask.encode())
        assert await client.is_closed()
    assert registry.requests == []


@pytest.mark.parametrize(
    "target", ["https://registry.test/", "ftp://registry.test/", "/a", "file:/a"]
)
async def test_odd_addresses_outside_a_tunnel(open_way, target: str) -> None:
    """Plain requests are for http addresses; anything else has no meaning here."""
    async with open_way(HOST) as way, way.client() as client:
        assert (await client.ask(target, HOST))[0] == 400
        assert way.dialled == []


async def test_slow_clients(open_way) -> None:
    """A head that does not come to its end in time closes the connection, as does silence."""
    limits = ProxyLimits(head_s=0.2, idle_s=0.4)
    async with open_way(HOST, limits=limits) as way:
        async with way.client() as client:
            await client.raw(b"GET http://registry.test/ HTTP/1.1\r\n")
            assert await client.is_closed()
        async with way.client() as silent:
            assert await silent.is_closed()
        async with way.client() as client:
            assert await client.tunnel(f"{HOST}:443") == 200
            assert await client.is_closed()  # no handshake follows


async def test_too_many_connections(open_way) -> None:
    """One set-up has a bounded number of connections at once."""
    opened = open_way(HOST, limits=ProxyLimits(connections=2))
    async with opened as way, way.client() as one, way.client() as two:
        assert await one.tunnel("evil.test:443") == 403
        async with way.client() as three:
            assert await three.is_closed()
        assert await two.tunnel(f"{HOST}:443") == 200


async def test_download_limit(registry, open_way, answer) -> None:
    """A set-up that has downloaded its share gets no more; the last answer is cut."""
    registry.answers["/a"] = answer(b"x" * 600_000)
    async with open_way(HOST, limits=ProxyLimits(total_bytes=1_000_000)) as way:
        assert (await way.get(f"https://{HOST}/a"))[0] == 200
        with pytest.raises(asyncio.IncompleteReadError):
            await way.get(f"https://{HOST}/a")
        assert "downloaded as much" in way.proxy.refusals.sentences()[0]


async def test_broken_registries(registry, open_way, answer) -> None:
    """An answer that breaks off is never a whole one; a closed connection is tried anew."""
    registry.answers["/cut"] = answer(b"x" * 1000, cut=True)
    registry.answers["/cut-chunks"] = answer(b"x" * 1000, chunked=True, cut=True)
    registry.answers["/close"] = answer(b"bye", close=True)
    async with open_way(HOST) as way:
        for path in ("/cut", "/cut-chunks"):
            with pytest.raises(asyncio.IncompleteReadError):
                await way.get(f"https://{HOST}{path}")
        async with way.client(HOST) as client:
            for _ in range(3):
                assert (await client.ask("/close", HOST))[::2] == (200, b"bye")


async def test_unreachable_registries(open_way) -> None:
    """What does not answer is a bad gateway with the reason, and no refusal."""

    async def nowhere(*_: object) -> None:
        raise ConnectionRefusedError(111, "refused")

    async with open_way(HOST, "gone.test", names={"gone.test": ()}) as way:
        way.proxy.upstream._dial = nowhere
        status, _, body = await way.get(f"https://{HOST}/")
        assert (status, b"cannot be reached" in body) == (502, True)
        async with way.client() as client:
            await client.raw(b"CONNECT gone.test:443 HTTP/1.1\r\nHost: gone.test:443\r\n\r\n")
            assert (await client.answer())[::2] == (502, b"prism: gone.test has no address.\n")
        assert way.proxy.refusals.hosts() == ()


async def test_registry_must_prove_itself(registry, open_way) -> None:
    """A registry whose certificate this machine does not trust gets no request."""
    async with open_way(HOST) as way:
        way.proxy.upstream._tls = tls_context(Authority().bundle)
        assert (await way.get(f"https://{HOST}/"))[0] == 502
    assert registry.requests == []


async def test_certificates_are_of_this_set_up(open_way) -> None:
    """Another set-up's authority is not trusted, and no other protocol than HTTP/1.1 offered."""
    async with open_way(HOST) as way:
        async with way.client() as client:
            await client.tunnel(f"{HOST}:443")
            stranger = tls_context(Authority().bundle)
            with pytest.raises(ssl.SSLCertVerificationError):
                await client.writer.start_tls(stranger, server_hostname=HOST)
        async with way.client() as client:
            await client.tunnel(f"{HOST}:443")
            context = tls_context(way.proxy.authority.bundle)
            context.set_alpn_protocols(["h2", "http/1.1"])
            await client.writer.start_tls(context, server_hostname=HOST)
            assert client.writer.get_extra_info("ssl_object").selected_alpn_protocol() == "http/1.1"


async def test_credentials(registry, open_way, answer, tmp_path) -> None:
    """The operator's word goes to its own origin and path alone, and such answers are not kept."""
    own = Credential(Origin("https", "pypi.org", 443), "/own/", "Basic eA==")
    page = answer(headers=(("Cache-Control", "max-age=600"),))
    for path in ("/own/simple/", "/other/", "/own/../other/", "/own/%2e%2e/other/"):
        registry.answers[path] = page
    cache = Cache(tmp_path / "cache")
    async with open_way("pypi.org", HOST, credentials=(own,), cache=cache) as way:
        await way.get("https://pypi.org/own/simple/", "Authorization: Basic b3RoZXI=")
        await way.get("https://pypi.org/own/simple/")
        await way.get("https://pypi.org/other/", "Authorization: Basic b3RoZXI=")
        for path in ("/other/", "/own/../other/", "/own/%2e%2e/other/", "//own/simple/"):
            await way.get(f"https://pypi.org{path}")
        await way.get(f"https://{HOST}/own/simple/")
        await way.get("http://pypi.org/own/simple/")
    sent = [headers.get("authorization") for _, _, headers, _ in registry.requests]
    assert sent == ["Basic eA==", "Basic eA==", "Basic b3RoZXI=", *[None] * 6]


async def test_packages_are_fetched_once(registry, open_way, answer, tmp_path) -> None:
    """A published file comes from the cache, whole, unless the entry was damaged or is private."""
    path = "/packages/a/b/pkg-1.0-py3-none-any.whl"
    registry.answers[path] = answer(b"w" * 200_000, headers=(("Etag", "e"),))
    host, folder = "files.pythonhosted.org", tmp_path / "cache"
    async with open_way(host, cache=Cache(folder)) as way:
        url = f"https://{host}{path}"
        for _ in range(3):
            status, headers, body = await way.get(url)
            assert (status, headers["etag"], body) == (200, "e", b"w" * 200_000)
        assert len(registry.requests) == 1
        (entry,) = folder.iterdir()
        entry.write_bytes(entry.read_bytes().replace(b"www", b"wvw", 1))
        assert (await way.get(url))[2] == b"w" * 200_000
        assert len(registry.requests) == 2
        await way.get(url, "Authorization: Basic eA==")
        await way.get(url, "Range: bytes=0-1")
        assert len(registry.requests) == 4


async def test_cut_answers_are_not_kept(registry, open_way, answer, tmp_path) -> None:
    """Half a package is neither served again nor left behind."""
    path = "/packages/a/b/pkg-1.0.tar.gz"
    registry.answers[path] = answer(b"w" * 200_000, cut=True)
    host, folder = "files.pythonhosted.org", tmp_path / "cache"
    async with open_way(host, cache=Cache(folder)) as way:
        with pytest.raises(asyncio.IncompleteReadError):
            await way.get(f"https://{host}{path}")
        registry.answers[path] = answer(b"w" * 200_000)
        assert len((await way.get(f"https://{host}{path}"))[2]) == 200_000
    assert len(list(folder.iterdir())) == 1


async def test_git_fetch(registry, open_way, answer) -> None:
    """git may fetch where it is listed for that; it never pushes."""
    registry.answers["/a.git/git-upload-pack"] = answer(b"pack")
    body = "Content-Length: 4\r\n\r\nwant"
    for entry, status in ((HOST, 405), (f"git+{HOST}", 200)):
        async with open_way(entry) as way, way.client(HOST) as client:
            head = f"POST /a.git/git-upload-pack HTTP/1.1\r\nHost: {HOST}\r\n{FETCH}\r\n"
            await client.raw((head + body).encode())
            assert (await client.answer())[0] == status
    assert [(method, got) for method, _, _, got in registry.requests] == [("POST", b"want")]
    async with open_way(f"git+{HOST}") as way, way.client(HOST) as client:
        push = f"POST /a.git/git-receive-pack HTTP/1.1\r\nHost: {HOST}\r\n{FETCH}\r\n{body}"
        await client.raw(push.encode())
        assert (await client.answer())[0] == 405


async def test_closing_cuts_everything(open_way) -> None:
    """What is open when the set-up ends does not stay open."""
    async with open_way(HOST) as way:
        client = way.client(HOST)
        inside = await client.__aenter__()
    assert await inside.is_closed()
    await client.__aexit__(None, None, None)
