"""Which hosts a set-up may reach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.base import EnvironmentPlan
from sandbox.network.allow import (
    REGISTRIES,
    SETTING,
    Entry,
    admitted,
    allow_list,
    ecosystems,
    hosts_for,
    operator_entries,
    read_entry,
    split_authority,
)

LABELS = st.sampled_from(["a", "b2", "x-y", "registry", "under_score"])
NAMES = st.builds(".".join, st.lists(LABELS, min_size=2, max_size=4))
PORTS = st.one_of(st.none(), st.integers(1, 65535))


def plan(*setup: str, language: str = "python", **rest: object) -> EnvironmentPlan:
    """A plan with these lines."""
    return EnvironmentPlan(language, setup, "", "exit_code", "test", **rest)


@given(st.builds(Entry, NAMES, PORTS, st.booleans(), st.booleans()))
def test_entries_are_what_they_print(entry: Entry) -> None:
    """Reading what an entry prints gives it back."""
    assert read_entry(str(entry)) == entry


@given(name=NAMES, port=PORTS, other=st.integers(1, 65535))
def test_entries_cover_one_host(name: str, port: int | None, other: int) -> None:
    """An entry by name covers that host on its port, or on 443 and 80, and nothing else."""
    found = allow_list([str(Entry(name, port))])
    assert bool(found.find(name, other)) == (other == port if port else other in (80, 443))
    for stranger in (f"a{name}", f"a.{name}", f"{name}.test", name[1:]):
        assert not found.find(stranger, port or 443)


@given(name=NAMES, label=LABELS)
def test_wildcards_cover_what_is_below(name: str, label: str) -> None:
    """`*.domain` covers hosts below it, not the domain, nor one that merely ends alike."""
    (entry,) = allow_list([f"*.{name}"]).entries
    assert entry.matches(f"{label}.{name}", 443)
    assert not entry.matches(name, 443)
    assert not entry.matches(f"{label}{name}", 443)
    assert not entry.private_allowed


def test_any_host() -> None:
    """`*` covers names, never addresses."""
    (entry,) = allow_list(["*"]).entries
    assert entry.matches("a.test", 443)
    assert not any(entry.matches(host, 443) for host in ("127.0.0.1", "::1", "203.0.113.7"))


@given(st.text(max_size=40))
def test_authorities_are_canonical(text: str) -> None:
    """Any text is refused or has one canonical form, which reads as itself."""
    try:
        host, port = split_authority(text)
    except ValueError:
        return
    again = f"[{host}]" if ":" in host else host
    assert split_authority(again if port is None else f"{again}:{port}") == (host, port)
    assert host == host.lower()
    assert not set(host) & set("/@?#% \\*")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PyPI.org.", ("pypi.org", None)),
        ("[::1]:80", ("::1", 80)),
        ("[::FFFF:127.0.0.1]", ("::ffff:7f00:1", None)),
        ("10.0.0.1:8081", ("10.0.0.1", 8081)),
    ],
)
def test_spellings(text: str, expected: tuple[str, int | None]) -> None:
    """One host has one spelling afterwards."""
    found = split_authority(text)
    assert found in (expected, ("::ffff:127.0.0.1", None))


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a..b",
        "-a.test",
        "a_b.test/",
        "a b",
        "user@a",
        "a:0",
        "a:70000",
        "a:",
        "[::1",
        "::1%lo",
        "[fe80::1%25eth0]",
        "0177.0.0.1",
        "1",
        "0x7f000001",
        "127.1",
        "ex\u00e4mple.test",
        "a\n",
        "a" * 300,
    ],
)
def test_no_hosts(text: str) -> None:
    """What libc, a browser or a person might read as a host is none unless it is one plainly."""
    with pytest.raises(ValueError, match=r"host|port"):
        split_authority(text)


def test_ecosystems_of_a_plan() -> None:
    """The language's, those whose tools a line names, Debian for packages, all when unknown."""
    assert ecosystems(plan("pip install .")) == ("python",)
    assert ecosystems(plan("pip install .", "cd web && npm ci")) == ("node", "python")
    assert ecosystems(plan("./gradlew test", "go-task", language="ruby")) == ("java", "ruby")
    assert ecosystems(plan("cargo fetch", language="rust", packages=("m4",))) == ("debian", "rust")
    assert set(ecosystems(plan("make", language="unknown"))) == set(REGISTRIES) - {"debian"}


def test_a_plan_reaches_its_registries_alone() -> None:
    """Hosts of the repository are not among them unless the operator admits them."""
    wanted = plan("pip install .", hosts=("files.corp.test", "evil.test"))
    assert hosts_for(wanted, {}) == REGISTRIES["python"]
    admitting = {SETTING: "files.corp.test, git+code.test"}
    assert hosts_for(wanted, admitting) == (*REGISTRIES["python"], "files.corp.test")


@pytest.mark.parametrize(
    ("wanted", "setting", "got"),
    [
        ("a.test", "a.test", "a.test"),
        ("a.test:8443", "a.test", None),
        ("a.test", "a.test:8443", "a.test:8443"),
        ("b.a.test", "*.a.test", "public+b.a.test"),
        ("a.test", "*", "public+a.test"),
        ("10.0.0.1", "*", None),
        ("10.0.0.1", "10.0.0.1", "10.0.0.1"),
        ("*", "*", None),
        ("*.test", "*.test", None),
        ("git+a.test", "a.test", None),
        ("git+a.test", "git+a.test", "git+a.test"),
        ("a.test", "git+a.test", "a.test"),
        ("a.test/x", "*", None),
        ("a.test", "", None),
        ("a.test", "no host", None),
    ],
)
def test_admission(wanted: str, setting: str, got: str | None) -> None:
    """A repository gets what both name: never a wildcard, another port or more than asked for."""
    assert [str(entry) for entry in admitted(wanted, {SETTING: setting})] == ([got] if got else [])


@given(wanted=st.text(max_size=30), setting=st.text(max_size=60))
def test_admission_never_crashes(wanted: str, setting: str) -> None:
    """Whatever a repository writes is admitted or not."""
    assert all(not entry.is_wildcard for entry in admitted(wanted, {SETTING: setting}))


def test_malformed_setting() -> None:
    """The operator's own mistake is named."""
    with pytest.raises(ValueError, match="http:"):
        operator_entries({SETTING: "a.test http://b.test/"})
