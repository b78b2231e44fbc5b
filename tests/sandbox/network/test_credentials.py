"""Which requests the operator's passwords go with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.network.credentials import Credential, authorization_for, prefix_of
from sandbox.network.request import Origin

HOST = Origin("https", "host.test", 443)
BOTH = (
    Credential(HOST, "/api/pypi/one/", "one"),
    Credential(HOST, "/api/pypi/", "all"),
    Credential(HOST, "/api/npm/two/", "two"),
)


def sent(target: str, origin: Origin = HOST) -> str:
    """What goes with a request for a target."""
    return authorization_for(BOTH, origin, target)


def test_the_longest_path_wins() -> None:
    """Each path of a host has its own password, and everything else none."""
    assert sent("/api/pypi/one/simple/click/") == "one"
    assert sent("/api/pypi/one") == "one"
    assert sent("/api/pypi/one/packages/a/click-8.1%2Bcu118.whl?x=../..") == "one"
    assert sent("/api/pypi/other/simple/") == "all"
    assert sent("/api/npm/two/@scope%2fname") == "two"
    assert sent("/api/npm/two/@scope/name/-/name-1.0.tgz") == "two"
    for target in ("/", "/api", "/api/pypi-one/", "/api/npm/twofold", "/API/pypi/one/", "/?/api/"):
        assert sent(target) == ""


@pytest.mark.parametrize(
    "origin",
    [
        Origin("http", "host.test", 443),
        Origin("https", "host.test", 8443),
        Origin("https", "x.host.test", 443),
    ],
)
def test_one_origin_alone(origin: Origin) -> None:
    """Another scheme, port or name has no part in it."""
    assert sent("/api/pypi/one/", origin) == ""


ODD = [
    "..", "%2e%2e", ".%2E", "%2e", ".", "..%2f", "%2F..", "%252e%252e", "%5c..", "..\\", "..;",
    ";a=b", "..%3b", "%00", "%c0%ae%c0%ae", "%ef%bc%8e", "@..%2f..", "@a%2f..", "@a%2f%2e%2e",
    "@a%2f..%2fb", "@a%2fb%2f..", "%", "%4", "%zz",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_paths_that_could_be_others(odd: str) -> None:
    """Nothing goes with what a registry might read as a path outside, wherever it stands."""
    for target in (f"/api/pypi/one/{odd}", f"/api/pypi/one/{odd}/secret", f"/x/{odd}/api/pypi/one"):
        assert sent(target) == ""
    assert sent(f"/api/pypi/one/{odd}/../../secret") == ""


def test_empty_segments() -> None:
    """Two slashes together are one for some registries and none for others."""
    assert [sent(path) for path in ("//api/pypi/one/", "/api//pypi/one/", "/api/pypi/one//x")] == [
        "", "", "",
    ]  # fmt: skip


@given(st.text(st.sampled_from("aA./\\%25eEfFcC;@?#~+"), max_size=24))
def test_what_is_sent_stays_below(text: str) -> None:
    """However a registry decodes and normalises a path, it is below the prefix when sent."""
    if not sent(f"/api/npm/two/{text}"):
        return
    path = text.partition("?")[0]
    for _ in range(3):
        for code, char in (("2e", "."), ("2f", "/"), ("5c", "/"), ("25", "%")):
            path = path.replace(f"%{code}", char).replace(f"%{code.upper()}", char)
        assert ".." not in path.replace("\\", "/").split("/")


@pytest.mark.parametrize(
    ("variable", "address", "prefix"),
    [
        ("PIP_INDEX_URL", "https://h/simple", "/"),
        ("PIP_INDEX_URL", "https://h/api/pypi/x/simple/", "/api/pypi/x/"),
        ("pip_extra_index_url", "https://h/root/pypi/+simple/", "/root/pypi/"),
        ("UV_INDEX", "https://h/own", "/own/"),
        ("CARGO_REGISTRIES_A_INDEX", "https://h/cargo/a/index/", "/cargo/a/"),
        ("NPM_CONFIG_REGISTRY", "https://h/npm/simple", "/npm/simple/"),
        ("GOPROXY", "https://h", "/"),
        ("", "https://h/debian/?a=b", "/debian/"),
    ],
)
def test_paths_of_registries(variable: str, address: str, prefix: str) -> None:
    """A registry's own path; beside its index where files of that client usually lie."""
    assert prefix_of(address, variable) == prefix
