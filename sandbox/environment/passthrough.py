"""What installers of this machine are configured with, for set-up lines and nothing else.

Values are handed to single processes, never to a container: a commit would bake them in.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

NAMES = re.compile(
    r"^(PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES|ONLY_BINARY)"
    r"|UV_(INDEX_URL|DEFAULT_INDEX|INDEX|EXTRA_INDEX_URL)"
    r"|NPM_CONFIG_(REGISTRY|FETCH_\w+)|YARN_\w*REGISTRY\w*"
    r"|GOPROXY|GONOSUMDB|GOFLAGS|CARGO_REGISTRIES_\w+"
    r"|(HTTP|HTTPS|ALL|NO)_PROXY)$",
    re.IGNORECASE,
)
_BUNDLE_NAMES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
)
_LOCAL = re.compile(
    rf"{NAMES.pattern}|^(PIP|UV|NPM_CONFIG)_\w+$|^({'|'.join(_BUNDLE_NAMES)})$", re.IGNORECASE
)
_BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")


def installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The well-known variables of package managers and proxies, by name.

    Values that are paths of this machine are left out: they mean nothing elsewhere.
    """
    return {
        name: value
        for name, value in environ.items()
        if NAMES.match(name) and value and not value.startswith(("/", "file:"))
    }


def local_installer_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The same for processes on this machine: paths mean something here."""
    local = {name: value for name, value in environ.items() if _LOCAL.match(name) and value}
    home = environ.get("HOME", "")
    for place in (".config/pip/pip.conf", ".pip/pip.conf"):
        if home and (Path(home) / place).is_file():
            local.setdefault("PIP_CONFIG_FILE", str(Path(home) / place))
    return local


def bundle_environment(path: str) -> dict[str, str]:
    """Variables that make the usual clients trust the certificates in `path`."""
    return dict.fromkeys(_BUNDLE_NAMES, path)


def certificate_bundle(environ: Mapping[str, str]) -> bytes:
    """This machine's certificate authorities; b"" when it has no bundle."""
    places = (environ.get("SSL_CERT_FILE", ""), environ.get("REQUESTS_CA_BUNDLE", ""), *_BUNDLES)
    for place in places:
        if place and Path(place).is_file():
            return Path(place).read_bytes()
    return b""


def secrets_in(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Passwords inside the URLs of an environment: what must not stay in an image."""
    words = " ".join(environment.values()).split()
    found = [urlsplit(word).password for word in words if "://" in word and "@" in word]
    return tuple(secret for secret in found if secret)
