"""What is kept of registries' answers, and that nothing else is ever served."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.network import cache as cache_module
from sandbox.network.cache import FOREVER_S, Cache, cache_key, fresh_for_s, may_be_cached
from sandbox.network.request import Origin, Wanted

HEADERS = [(b"content-type", b"text/plain")]


def wanted(url: str, *headers: tuple[bytes, bytes], method: str = "GET") -> Wanted:
    """A request for an https address."""
    host, _, path = url.partition("/")
    return Wanted(Origin("https", host, 443), method, "/" + path, headers)


def put(cache: Cache, key: str, *parts: bytes, fresh_s: float = 100.0) -> None:
    """Keep an answer."""
    writing = cache.begin(key, HEADERS, fresh_s)
    assert writing is not None
    assert all(writing.feed(part) for part in parts)
    writing.finish()


def get(cache: Cache, key: str) -> bytes | None:
    """The body of a kept answer."""
    stored = cache.find(key)
    if stored is None:
        return None
    with stored.file:
        assert stored.headers == HEADERS
        return b"".join(stored.chunks())


@given(parts=st.lists(st.binary(max_size=300), max_size=5))
def test_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    """Any body in any pieces."""
    cache = Cache(tmp_path_factory.mktemp("cache"))
    put(cache, "a", *parts)
    assert get(cache, "a") == b"".join(parts)


@settings(max_examples=50)
@given(data=st.data())
def test_damage_is_never_served(tmp_path_factory: pytest.TempPathFactory, data) -> None:
    """A cut, a longer or a changed file is as good as none, and is removed."""
    folder = tmp_path_factory.mktemp("cache")
    cache, body = Cache(folder), b"content" * 50
    put(cache, "a", body)
    whole = (folder / "a").read_bytes()
    at = data.draw(st.integers(0, 10_000)) % len(whole)
    damage = data.draw(st.sampled_from(["cut", "change", "more"]))
    changed = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    (folder / "a").write_bytes({"cut": whole[:at], "change": changed, "more": whole + b"x"}[damage])
    assert get(cache, "a") is None
    assert list(folder.iterdir()) == []


def test_ends(tmp_path: Path) -> None:
    """An entry ends with its time; one that was dropped or is not complete was never there."""
    cache = Cache(tmp_path)
    put(cache, "old", b"x", fresh_s=-1)
    begun = cache.begin("begun", HEADERS, 100)
    assert begun is not None
    begun.feed(b"x")
    assert (get(cache, "old"), get(cache, "begun")) == (None, None)
    begun.drop()
    assert list(tmp_path.iterdir()) == []


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    """Within its limit; what was read lately stays."""
    cache = Cache(tmp_path, limit=12_000)
    for number in range(9):
        put(cache, str(number), b"x" * 1000)
        os.utime(tmp_path / str(number), (number, number))
    assert get(cache, "0")
    put(cache, "new", b"x" * 1000)
    cache.sweep()
    left = {path.name for path in tmp_path.iterdir()}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10_800
    assert {"0", "new"} <= left
    assert "1" not in left


def test_too_large_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One huge answer does not take the room of all others."""
    monkeypatch.setattr(cache_module, "ENTRY_LIMIT", 100)
    writing = Cache(tmp_path).begin("a", HEADERS, 10)
    assert writing is not None
    assert writing.feed(b"x" * 100)
    assert not writing.feed(b"x")
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder(tmp_path: Path) -> None:
    """Without room to keep things nothing is kept, and nothing fails."""
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    assert cache.begin("a", HEADERS, 10) is None
    assert cache.find("a") is None


@pytest.mark.parametrize(
    ("url", "rules", "fresh_s"),
    [
        ("files.pythonhosted.org/packages/a/b/c.whl", "max-age=5", FOREVER_S),
        ("files.pythonhosted.org/packages/a/b/c.whl", "no-store", 0),
        ("files.pythonhosted.org/simple/c.whl/", "", 0),
        ("registry.npmjs.org/a/-/a-1.0.0.tgz", "", FOREVER_S),
        ("registry.npmjs.org/a", "public, max-age=300", 300),
        ("registry.npmjs.org/a", "private, max-age=300", 0),
        ("registry.npmjs.org/a", "", 0),
        ("pypi.org/simple/a/", "max-age=600, public", 600),
        ("proxy.golang.org/a/@v/v1.0.0.zip", "", FOREVER_S),
        ("proxy.golang.org/a/@v/list", "", 0),
        ("proxy.golang.org/a/@latest", "max-age=60", 60),
        ("repo.maven.apache.org/maven2/a/b/1/b-1.jar", "", FOREVER_S),
        ("repo.maven.apache.org/maven2/a/b/1-SNAPSHOT/b-1-SNAPSHOT.jar", "", 0),
        ("repo.maven.apache.org/maven2/a/maven-metadata.xml.sha1", "", 0),
        ("deb.debian.org/debian/pool/main/a/a/a_1_all.deb", "", FOREVER_S),
        ("deb.debian.org/debian/dists/bookworm/InRelease", "max-age=120", 120),
        ("static.crates.io/crates/a/1.0.0/download", "", FOREVER_S),
    ],
)
def test_how_long(url: str, rules: str, fresh_s: float) -> None:
    """Published files for good, pages as long as they say, private ones never."""
    headers = [(b"cache-control", rules.encode())] if rules else []
    assert fresh_for_s(wanted(url), 200, headers) == fresh_s
    for status in (206, 301, 404, 500):
        assert fresh_for_s(wanted(url), status, headers) == 0


def test_age_counts() -> None:
    """What another cache held for a while is that much older."""
    page = wanted("pypi.org/simple/a/")
    rules = [(b"cache-control", b"max-age=600"), (b"age", b"500")]
    assert fresh_for_s(page, 200, rules) == 100
    for name in (b"cookie", b"user-agent", b"Accept, User-Agent", b"authorization", b"*"):
        assert fresh_for_s(page, 200, [*rules, (b"vary", name)]) == 0


def test_what_could_be_kept() -> None:
    """Only what anybody gets by a plain GET from a public registry."""
    url = "pypi.org/simple/a/"
    assert may_be_cached(wanted(url), has_credentials=False)
    assert not may_be_cached(wanted(url), has_credentials=True)
    assert not may_be_cached(wanted(url, (b"authorization", b"x")), has_credentials=False)
    assert not may_be_cached(wanted(url, (b"range", b"bytes=0-1")), has_credentials=False)
    assert not may_be_cached(wanted(url, (b"if-none-match", b"x")), has_credentials=False)
    assert not may_be_cached(wanted(url, method="HEAD"), has_credentials=False)
    assert not may_be_cached(wanted("pypi.corp.test/simple/a/"), has_credentials=False)


def test_keys_differ_with_what_is_accepted() -> None:
    """Two forms of one page are two entries."""
    url = "pypi.org/simple/a/"
    keys = {
        cache_key(wanted(url)),
        cache_key(wanted(url + "?")),
        cache_key(wanted(url, (b"accept", b"text/html"))),
        cache_key(wanted(url, (b"accept-encoding", b"text/html"))),
    }
    assert len(keys) == 4
