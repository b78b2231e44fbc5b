"""What installers of this machine are configured with, for set-up lines and nothing else.

Values are handed to single processes, never to a container: a commit would bake them in. Into a
container no password goes at all; the proxy adds it on the way out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from sandbox.network.allow import split_authority
from sandbox.network.clients import BUNDLE_NAMES

NAMES = re.compile(
    r"^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES|ONLY_BINARY)"
    r"|UV_(INDEX_URL|DEFAULT_INDEX|INDEX|EXTRA_INDEX_URL)"
    r"|NPM_CONFIG_(REGISTRY|FETCH_\w+)|YARN_(REGISTRY|NPM_REGISTRY_SERVER)"
    r"|GOPROXY|GONOSUMDB|GOFLAGS|CARGO_REGISTRIES_\w+_(INDEX|TOKEN))$",
    re.IGNORECASE,
)
_PROXIES = re.compile(r"^(HTTP|HTTPS|ALL|NO)_PROXY$", re.IGNORECASE)
_SECRET = re.compile(r"(TOKEN|PASSWORD|SECRET|_AUTH)$", re.IGNORECASE)
_LOCAL = re.compile(
    rf"{NAMES.pattern}|{_PROXIES.pattern}|^(PIP|UV|NPM_CONFIG)_\w+$|^({'|'.join(BUNDLE_NAMES)})$",
    re.IGNORECASE,
)
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_URL = re.compile(r"[a-z+]+://[^\s,|]+", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/,|]*@")
_QUERY = re.compile(r"(?<=://)([^\s,|?#]*)[?#][^\s,|]*")
_WITHHELD = re.compile(r"^(CARGO_REGISTRIES_\w+|YARN_\w*REGISTR\w*)$", re.IGNORECASE)
_TELLING = 8  # characters of a user name or query that can be told from other text
PLACEHOLDER = "added-by-the-proxy"


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The well-known variables of package managers, by name, without passwords.

    Addresses lose their user names and queries; a token becomes a placeholder, because some
    clients do not even ask without one. Values that are paths of this machine are left out, and
    those with addresses that cannot be read: a password with a slash in it would stay.
    """
    found = {
        name: PLACEHOLDER if _SECRET.search(name) else _QUERY.sub(r"\1", _USER.sub("", value))
        for name, value in _installers(environ).items()
    }
    return {name: value for name, value in found.items() if _is_clean(value)}


def notes_on(environ: Mapping[str, str]) -> tuple[str, ...]:
    """What of an environment cannot be used by set-ups, in sentences without values."""
    handed = installer_environment(environ)
    notes = []
    for name, value in environ.items():
        if name in handed:
            if _QUERY.search(value):
                notes.append(
                    f"{name}: what follows ? in an address is neither handed to set-ups nor sent "
                    "to the registry; give a password as https://user:password@host/."
                )
        elif name in _installers(environ) or (_WITHHELD.match(name) and value):
            notes.append(f"{name} is not handed to set-ups: it may hold a password.")
    return tuple(notes)


def local_installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables as they are, for processes on this machine: paths mean something here."""
    local = {name: value for name, value in environ.items() if _LOCAL.match(name) and value}
    home = environ.get("HOME", "")
    for place in (".config/pip/pip.conf", ".pip/pip.conf"):
        if home and (Path(home) / place).is_file():
            local.setdefault("PIP_CONFIG_FILE", str(Path(home) / place))
    return local


def addresses_in(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Addresses of registries in installers' variables, passwords included, each with its name."""
    return tuple(
        (name, url.removeprefix("sparse+"))
        for name, value in _installers(environ).items()
        for url in _URL.findall(value)
    )


def tokens_in(environ: Mapping[str, str]) -> dict[str, str]:
    """Tokens of cargo's registries by the address of their index."""
    installers = {name.upper(): value for name, value in _installers(environ).items()}
    found = {}
    for name, value in installers.items():
        index = installers.get(name.removesuffix("_TOKEN") + "_INDEX", "")
        if name.endswith("_TOKEN") and index:
            found[index.removeprefix("sparse+")] = value
    return found


def certificate_bundle(environ: Mapping[str, str]) -> bytes:
    """This machine's certificate authorities; b"" when it has no bundle."""
    places = (environ.get("SSL_CERT_FILE", ""), environ.get("REQUESTS_CA_BUNDLE", ""), *_BUNDLES)
    for place in places:
        if place and Path(place).is_file():
            return Path(place).read_bytes()
    return b""


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Passwords and tokens in an environment: what must not stay in an image.

    Where an address has no password, its user name is one, and so is what its query holds; both
    unless they are so short that they are found everywhere. As written and as sent.
    """
    found = [value for name, value in environment.items() if _SECRET.search(name)]
    for value in environment.values():
        for url in re.findall(r"[a-z+]+://[^\s|]+", value, re.IGNORECASE):
            for each in re.split(r",(?=[a-z+]+://|direct|off)", url):
                found += _secrets_of(each.partition("://")[2])
    both = (form for secret in found for form in (secret, unquote(secret)))
    return tuple(dict.fromkeys(form for form in both if form and form != PLACEHOLDER))


def _secrets_of(address: str) -> list[str]:
    """What stands before @ and behind ? in an address without its scheme."""
    user, at, _ = address.rpartition("@")
    name, colon, password = user.partition(":")
    rest = re.split(r"[?#]", address, maxsplit=1)[1:]
    short = [word.rpartition("=")[2] for part in rest for word in part.split("&")]
    if at and not password:
        short.append(name)
    return [*([password] if colon else []), *(word for word in short if len(word) >= _TELLING)]


def _is_clean(value: str) -> bool:
    """Whether all addresses in a value are plain ones, so that nothing stands before an @."""
    if "://" not in value:
        return True
    authorities = (url.partition("://")[2].partition("/")[0] for url in _URL.findall(value))
    try:
        for authority in authorities:
            split_authority(authority)
    except ValueError:
        return False
    return not re.search(r"(?<!/)@", value)


def _installers(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if NAMES.match(name) and value and not value.startswith(("/", "file:"))
    }
