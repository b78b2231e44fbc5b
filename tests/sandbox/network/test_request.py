"""Which requests leave, decided on their heads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.network.request import (
    Origin,
    Refused,
    read_request,
    response_headers,
    tunnel_origin,
)

HERE = Origin("https", "a.test", 443)
NAMES = st.sampled_from([b"host", b"content-length", b"transfer-encoding", b"accept", b"x-data"])
VALUES = st.sampled_from([b"a.test", b"A.TEST.", b"a.test:443", b"0", b"5", b"chunked", b"b.test"])
TARGETS = st.one_of(
    st.binary(max_size=20),
    st.sampled_from([b"/", b"/a?b", b"//b.test/", b"http://a.test/x", b"http://b.test@a.test/"]),
)


@given(
    method=st.sampled_from([b"GET", b"HEAD", b"POST", b"CONNECT", b"get"]),
    target=TARGETS,
    headers=st.lists(st.tuples(NAMES, VALUES), max_size=4),
    tunnel=st.sampled_from([HERE, None]),
)
def test_what_leaves(method, target, headers, tunnel) -> None:
    """Whatever is asked: refused, or a GET or HEAD without body for the host that was named."""
    try:
        wanted = read_request(method, target, headers, tunnel)
    except Refused:
        return
    assert wanted.method in ("GET", "HEAD")
    assert wanted.target.startswith("/")
    assert wanted.target.isascii()
    assert {name for name, _ in wanted.headers} <= {b"accept"}
    assert [
        value.lower().removesuffix(b":443").rstrip(b".") for key, value in headers if key == b"host"
    ] == [wanted.origin.host.encode()]
    if tunnel:
        assert wanted.origin == HERE


@given(st.binary(max_size=30))
def test_tunnels_have_one_reading(target: bytes) -> None:
    """Any bytes are refused or name a host and a port."""
    try:
        origin = tunnel_origin(target)
    except Refused:
        return
    again = f"[{origin.host}]" if ":" in origin.host else origin.host
    assert tunnel_origin(f"{again}:{origin.port}".encode()) == origin


@pytest.mark.parametrize(
    ("origin", "authority"),
    [
        (Origin("https", "a.test", 443), "a.test"),
        (Origin("http", "a.test", 443), "a.test:443"),
        (Origin("https", "::1", 8443), "[::1]:8443"),
    ],
)
def test_authorities(origin: Origin, authority: str) -> None:
    """As a Host header has them."""
    assert origin.authority == authority


def test_response_headers_of_one_connection() -> None:
    """Those that Connection names go as well."""
    headers = [(b"connection", b"close, X-One"), (b"x-one", b"1"), (b"etag", b"e")]
    assert response_headers(headers) == [(b"etag", b"e")]
