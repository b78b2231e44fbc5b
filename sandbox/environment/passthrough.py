"""What installers of this machine are configured with, for set-up lines and nothing else.

Values are handed to single processes, never to a container: a commit would bake them in. Into a
container no password goes at all; the proxy adds it on the way out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from sandbox.network.clients import BUNDLE_NAMES

NAMES = re.compile(
    r"^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES|ONLY_BINARY)"
    r"|UV_(INDEX_URL|DEFAULT_INDEX|INDEX|EXTRA_INDEX_URL)"
    r"|NPM_CONFIG_(REGISTRY|FETCH_\w+)|YARN_\w*REGISTRY\w*"
    r"|GOPROXY|GONOSUMDB|GOFLAGS|CARGO_REGISTRIES_\w+)$",
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
PLACEHOLDER = "added-by-the-proxy"


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The well-known variables of package managers, by name, without passwords.

    Addresses lose their user names; a token becomes a placeholder, because some clients do not
    even ask without one. Values that are paths of this machine are left out.
    """
    return {
        name: PLACEHOLDER if _SECRET.search(name) else _USER.sub("", value)
        for name, value in _installers(environ).items()
    }


def local_installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables as they are, for processes on this machine: paths mean something here."""
    local = {name: value for name, value in environ.items() if _LOCAL.match(name) and value}
    home = environ.get("HOME", "")
    for place in (".config/pip/pip.conf", ".pip/pip.conf"):
        if home and (Path(home) / place).is_file():
            local.setdefault("PIP_CONFIG_FILE", str(Path(home) / place))
    return local


def addresses_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Addresses of registries in the variables of installers, with what passwords they hold."""
    values = " ".join(_installers(environ).values())
    return tuple(url.removeprefix("sparse+") for url in _URL.findall(values))


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
    """Passwords and tokens in an environment: what must not stay in an image."""
    words = " ".join(environment.values()).split()
    found = [urlsplit(word).password for word in words if "://" in word and "@" in word]
    found += [value for name, value in environment.items() if _SECRET.search(name)]
    return tuple(secret for secret in found if secret and secret != PLACEHOLDER)


def _installers(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if NAMES.match(name) and value and not value.startswith(("/", "file:"))
    }
