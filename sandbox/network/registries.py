"""The operator's own registries, read from the clients' configuration of this machine.

Their hosts join a set-up's allow list, their addresses go to the clients in the container, and
their passwords stay here with the proxy.
"""

import asyncio
import base64
import netrc
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sandbox.environment.passthrough import (
    addresses_in,
    installer_environment,
    notes_on,
    tokens_in,
)
from sandbox.network.allow import REGISTRIES, split_authority
from sandbox.network.credentials import Credential, prefix_of
from sandbox.network.request import Origin

AUTH = "PRISM_SETUP_AUTH"
_ASK_S = 20.0
_PIP = re.compile(
    r"^(?:global|install|user|site)\.(index-url|extra-index-url)=(['\"])(.*)\2$", re.MULTILINE
)
_NPM_TOKEN = re.compile(
    r"^//([^/\s]+)(/\S*?)?/?:(_authToken|_auth)\s*=\s*\"?([^\"\s]+)", re.MULTILINE
)
_NPM_REGISTRY = re.compile(r"^(?:@[^:\s]+:)?registry\s*=\s*\"?([^\"\s]+)", re.MULTILINE)

# What each ecosystem's client is asked, and the variables its answer fills.
_QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "python": ("pip", "config", "list"),
    "node": ("npm", "config", "get", "registry"),
    "debian": ("apt-get", "indextargets", "--format", "$(SITE)"),
}


@dataclass(frozen=True, slots=True)
class Registries:
    """`hosts` are entries of an allow list, `env` variables of the clients without passwords,
    `credentials` what is sent to them and below which path, `notes` what of the configuration
    cannot be used."""

    hosts: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()
    notes: tuple[str, ...] = ()


async def operator_registries(
    ecosystems: Collection[str], environ: Mapping[str, str], known: dict[str, str]
) -> Registries:
    """Ask the variables, and the clients that are installed here, for the given ecosystems.

    A client that is missing, fails or does not answer has nothing configured. `known` keeps
    their answers: they take half a second each and change with this machine's set-up alone.
    """
    asked = [name for name in _QUESTIONS if name in ecosystems and name not in known]
    answers = await asyncio.gather(*(_ask(_QUESTIONS[name], environ) for name in asked))
    known.update(zip(asked, answers, strict=True))
    heard = {name: known[name] for name in _QUESTIONS if name in ecosystems}
    variables = {**_pip_variables(heard.get("python", "")), **_npm_variables(heard.get("node", ""))}
    configured = {**variables, **environ}  # a variable wins over a file, as with the clients
    rc = _npmrc(environ) if "node" in ecosystems else ""
    addresses = [
        *addresses_in(configured),
        *(("", address) for address in _NPM_REGISTRY.findall(rc)),
        *(("", address) for address in heard.get("debian", "").split()),
        *((AUTH, address) for address in further_addresses(environ)),
    ]
    places = [
        _Place(address, origin, prefix_of(address, name), name)
        for name, address in dict.fromkeys(addresses)
        if (origin := _origin(address)) is not None
    ]
    return Registries(
        hosts=tuple(dict.fromkeys(place.origin.authority for place in places)),
        env=installer_environment(configured),
        credentials=_credentials(places, configured, rc),
        notes=notes_on(configured),
    )


def further_addresses(environ: Mapping[str, str]) -> tuple[str, ...]:
    """PRISM_SETUP_AUTH; raises ValueError, without its text, when a word of it is no address."""
    addresses = tuple(environ.get(AUTH, "").split())
    for number, address in enumerate(addresses, 1):
        if "://" not in address or _origin(address) is None:
            raise ValueError(f"address {number} is no http:// or https:// address of a host.")
    return addresses


async def _ask(question: tuple[str, ...], environ: Mapping[str, str]) -> str:
    program = shutil.which(question[0], path=environ.get("PATH", ""))
    if program is None:
        return ""
    process = await asyncio.create_subprocess_exec(
        program,
        *question[1:],
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
        env=dict(environ),
        cwd="/",
    )
    try:
        async with asyncio.timeout(_ASK_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return output.decode(errors="replace") if process.returncode == 0 else ""


def _pip_variables(listing: str) -> dict[str, str]:
    found = {
        "PIP_" + key.upper().replace("-", "_"): value for key, _, value in _PIP.findall(listing)
    }
    return {
        name: " ".join(word for word in value.split() if "://" in word and "file:" not in word)
        for name, value in found.items()
    }


def _npm_variables(registry: str) -> dict[str, str]:
    address = registry.strip()
    is_public = urlsplit(address).hostname in REGISTRIES["node"]
    if not address.startswith("http") or is_public:
        return {}
    return {"NPM_CONFIG_REGISTRY": address}


def _npmrc(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    path = environ.get("NPM_CONFIG_USERCONFIG") or (f"{home}/.npmrc" if home else "")
    text = _read(path)
    # npm itself puts variables in: ${NPM_TOKEN}.
    return re.sub(r"\$\{(\w+)\}", lambda name: environ.get(name.group(1), ""), text)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class _Place:
    """An address of the configuration, with the path that it is for and its variable."""

    address: str = field(repr=False)
    origin: Origin
    prefix: str
    variable: str


def _credentials(
    places: Sequence[_Place], environ: Mapping[str, str], npmrc: str
) -> tuple[Credential, ...]:
    """Later ones win at the same path: netrc, npm's file, cargo's tokens, the addresses' own."""
    found: dict[tuple[Origin, str], str] = _netrc_credentials(places, environ)
    used = {place.origin for place in places}
    for host, path, kind, value in _NPM_TOKEN.findall(npmrc):
        origin = _origin(f"https://{host}")
        if origin in used:
            word = f"{'Bearer' if kind == '_authToken' else 'Basic'} {value}"
            found[origin, prefix_of(f"https://{host}{path}")] = word
    for index, token in tokens_in(environ).items():
        if (origin := _origin(index)) is not None:
            found[origin, prefix_of(index, "CARGO_")] = token
    for place in places:
        parts = urlsplit(place.address)
        if parts.username or parts.password:
            word = _basic(unquote(parts.username or ""), unquote(parts.password or ""))
            found[place.origin, place.prefix] = word
    _widen(found, places)
    return tuple(Credential(*place, authorization=word) for place, word in found.items())


def _widen(found: dict[tuple[Origin, str], str], places: Sequence[_Place]) -> None:
    """Give addresses of PRISM_SETUP_AUTH without a password of their own that of their host.

    A host with several has none of them there: nobody could tell which is meant.
    """
    for place in places:
        words = {word for (origin, _), word in found.items() if origin == place.origin}
        if place.variable == AUTH and len(words) == 1:
            found.setdefault((place.origin, place.prefix), words.pop())


def _netrc_credentials(
    places: Sequence[_Place], environ: Mapping[str, str]
) -> dict[tuple[Origin, str], str]:
    path = environ.get("NETRC") or f"{environ.get('HOME', '')}/.netrc"
    try:
        known = netrc.netrc(path).hosts
    except (OSError, netrc.NetrcParseError):
        return {}
    return {
        (place.origin, place.prefix): _basic(
            known[place.origin.host][0], known[place.origin.host][2] or ""
        )
        for place in places
        if place.origin.host in known and place.origin.scheme == "https"
    }


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _origin(address: str) -> Origin | None:
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme not in ("http", "https"):
        return None
    try:
        host, port = split_authority(parts.netloc.rpartition("@")[2])
    except ValueError:
        return None
    return Origin(parts.scheme, host, port or (443 if parts.scheme == "https" else 80))
