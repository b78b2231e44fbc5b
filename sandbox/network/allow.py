"""Which hosts a set-up may reach, as data: public registries, the operator's own, admitted ones.

An entry is `host`, `host:port`, `*.domain` or `*` (any public host). The prefix `git+` also lets
git fetch from it, which needs POST; `public+` holds it to public addresses, as wildcards always
are. Any other host may resolve to a private address, because somebody wrote it down.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from sandbox.base import EnvironmentPlan

SETTING = "PRISM_SETUP_HOSTS"

# Public registries of each ecosystem; answers of these alone may be cached.
REGISTRIES: Mapping[str, tuple[str, ...]] = {
    "python": ("pypi.org", "files.pythonhosted.org"),
    "node": (
        "registry.npmjs.org",
        "registry.yarnpkg.com",
        "repo.yarnpkg.com",
        "nodejs.org",
    ),
    "go": ("proxy.golang.org", "sum.golang.org"),
    "rust": ("index.crates.io", "static.crates.io", "crates.io"),
    "java": (
        "repo.maven.apache.org",
        "repo1.maven.org",
        "plugins.gradle.org",
        "plugins-artifacts.gradle.org",
        "services.gradle.org",
        "downloads.gradle.org",
    ),
    "ruby": ("rubygems.org", "index.rubygems.org"),
    "php": ("repo.packagist.org", "packagist.org"),
    "debian": ("deb.debian.org", "security.debian.org"),
}
PUBLIC = frozenset(host for hosts in REGISTRIES.values() for host in hosts)

# Tools whose name in a line says that their registry is needed.
_TOOLS: Mapping[str, str] = {
    "python": r"python[\d.]*|pip[\d.]*|pipx|uvx?|poetry|pdm|pipenv|hatch|tox|nox|py\.?test",
    "node": r"node|npm|npx|yarn|pnpm|corepack",
    "go": r"go",
    "rust": r"cargo",
    "java": r"mvn|mvnw|gradle|gradlew",
    "ruby": r"gem|bundle|bundler|rake",
    "php": r"composer",
}
_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_HOST_LIMIT = 253


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an allow list. `port` None means 443 and 80; `host` may start with `*`."""

    host: str
    port: int | None = None
    git: bool = False
    public: bool = False

    def __str__(self) -> str:
        prefix = ("public+" if self.public else "") + ("git+" if self.git else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{prefix}{host}" + (f":{self.port}" if self.port else "")

    @property
    def is_wildcard(self) -> bool:
        """Whether it covers hosts that nobody wrote down."""
        return self.host.startswith("*")

    @property
    def private_allowed(self) -> bool:
        """Whether the host may resolve to a private address."""
        return not (self.public or self.is_wildcard)

    def matches(self, host: str, port: int) -> bool:
        """Whether the entry covers a host and port."""
        if port not in ((self.port,) if self.port else (443, 80)):
            return False
        if self.host == "*":
            return _is_name(host)
        if self.host.startswith("*."):
            return host.endswith(self.host[1:]) and len(host) >= len(self.host)
        return host == self.host


@dataclass(frozen=True, slots=True)
class AllowList:
    """What one set-up may reach."""

    entries: tuple[Entry, ...]

    def find(self, host: str, port: int) -> tuple[Entry, ...]:
        """The entries that cover a host and port; empty means refused."""
        return tuple(entry for entry in self.entries if entry.matches(host, port))

    def knows(self, host: str) -> bool:
        """Whether the host is covered on some port."""
        return any(entry.matches(host, entry.port or 443) for entry in self.entries)


def allow_list(hosts: Collection[str]) -> AllowList:
    """Read entries; raises ValueError naming the first that is none."""
    return AllowList(tuple(read_entry(text) for text in hosts))


def read_entry(text: str) -> Entry:
    """One entry; raises ValueError for anything that is not exactly a host."""
    rest = text.strip()
    public, rest = rest.startswith("public+"), rest.removeprefix("public+")
    git, rest = rest.startswith("git+"), rest.removeprefix("git+")
    host, port = split_authority(rest, allow_wildcard=True)
    return Entry(host, port, git, public)


def split_authority(text: str, *, allow_wildcard: bool = False) -> tuple[str, int | None]:
    """Host in canonical form, and port; raises ValueError.

    Canonical: lower case, no final dot, IDNA as it is on the wire, addresses as Python prints
    them and without brackets. Forms of addresses that only libc reads (0x7f.1, 2130706433) are
    refused, as are user names and paths.
    """
    host, port = text, ""
    if text.startswith("["):
        host, bracket, after = text[1:].partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise ValueError(f"{text[:80]!r} is not a host.")
        port = after[1:] if after else ""
        if ":" not in host or (after == ":"):
            raise ValueError(f"{text[:80]!r} is not a host.")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
        if not port:
            raise ValueError(f"{text[:80]!r} is not a host.")
    if port and not re.fullmatch(r"[0-9]{1,5}", port):
        raise ValueError(f"{text[:80]!r} has no valid port.")
    number = int(port) if port else None
    if number is not None and not 0 < number < 65536:
        raise ValueError(f"{text[:80]!r} has no valid port.")
    return _canonical(host, allow_wildcard=allow_wildcard), number


def _canonical(host: str, *, allow_wildcard: bool) -> str:
    if allow_wildcard and host == "*":
        return host
    if allow_wildcard and host.startswith("*."):
        return "*." + _canonical(host[2:], allow_wildcard=False)
    name = host.lower().removesuffix(".")
    try:
        address = ip_address(name)
    except ValueError:
        pass
    else:
        if isinstance(address, IPv6Address) and address.scope_id:
            raise ValueError(f"{host[:80]!r} is not a host.")
        return str(address)
    if not _is_name(name):
        raise ValueError(f"{host[:80]!r} is not a host.")
    return name


def _is_name(name: str) -> bool:
    """A host name, not an address in any spelling (libc reads 127.1 and 0x7f000001 as such)."""
    if len(name) > _HOST_LIMIT or not _NAME.fullmatch(name):
        return False
    return not re.fullmatch(r"(0x[0-9a-f]*|[0-9]+)", name.rpartition(".")[2])


def ecosystems(plan: EnvironmentPlan) -> tuple[str, ...]:
    """The ecosystems a plan installs from: its language's and those whose tools its lines name.

    A plan of no known language gets all of them: what `make setup` calls cannot be read.
    """
    if plan.language == "unknown":
        found = set(_TOOLS)
    else:
        lines = "\n".join((*plan.setup, plan.test))
        found = {
            name
            for name, tools in _TOOLS.items()
            if plan.language == name or re.search(rf"(?<![\w.-])({tools})(?![\w-])", lines)
        }
    return tuple(sorted(found | ({"debian"} if plan.packages else set())))


def hosts_for(plan: EnvironmentPlan, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Public registries of the plan's ecosystems and those of `plan.hosts` the operator admits.

    PRISM_SETUP_HOSTS (entries, comma or space between) says what repositories may ask for.
    """
    hosts = [host for name in ecosystems(plan) for host in REGISTRIES[name]]
    hosts += [str(entry) for text in plan.hosts for entry in admitted(text, environ)]
    return tuple(dict.fromkeys(hosts))


def admitted(text: str, environ: Mapping[str, str]) -> tuple[Entry, ...]:
    """What a repository gets of a host it asks for; empty when the operator does not admit it.

    Only hosts by name: a repository cannot ask for a wildcard. What a wildcard of the operator
    admits is held to public addresses.
    """
    try:
        wanted = read_entry(text)
        offered = operator_entries(environ)
    except ValueError:
        return ()
    return tuple(
        Entry(wanted.host, wanted.port or entry.port, wanted.git, not entry.private_allowed)
        for entry in offered
        if not wanted.is_wildcard
        and (entry.git or not wanted.git)
        and entry.matches(wanted.host, wanted.port or entry.port or 443)
    )


def operator_entries(environ: Mapping[str, str]) -> tuple[Entry, ...]:
    """PRISM_SETUP_HOSTS; raises ValueError naming what is no entry."""
    return allow_list(re.findall(r"[^,\s]+", environ.get(SETTING, ""))).entries
