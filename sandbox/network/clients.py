"""Variables that lead installers to the proxy and make them trust it; nothing secret."""

from collections.abc import Mapping

_AT_HOME = "localhost,127.0.0.1,::1"
BUNDLE_NAMES = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_CAFILE",
    "YARN_HTTPS_CA_FILE_PATH",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "BUNDLE_SSL_CA_CERT",
    "COMPOSER_CAFILE",
)
TRUSTSTORE_PASSWORD = "changeit"  # noqa: S105 - Java's own default; the file holds no secret


def proxy_environment(port: int) -> dict[str, str]:
    """The proxy's address as each client reads it; Java's is in `java_environment`."""
    address = f"http://127.0.0.1:{port}"
    env = dict.fromkeys(("NO_PROXY", "no_proxy"), _AT_HOME)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        env[name] = env[name.lower()] = address
    return {
        **env,
        "YARN_HTTP_PROXY": address,
        "YARN_HTTPS_PROXY": address,
        "NPM_CONFIG_AUDIT": "false",  # a POST
        "NPM_CONFIG_FUND": "false",
        "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        "COMPOSER_NO_AUDIT": "1",
        "CARGO_NET_RETRY": "2",
        "GIT_TERMINAL_PROMPT": "0",
    }


def bundle_environment(path: str) -> dict[str, str]:
    """Variables that make the usual clients trust the certificates in `path`."""
    return dict.fromkeys(BUNDLE_NAMES, path)


def java_environment(port: int, truststore: str) -> dict[str, str]:
    """Java reads no variable but this one, in every process of it."""
    at_home = _AT_HOME.replace(",", "|").replace("::1", "[::1]")
    options = {
        "http.proxyHost": "127.0.0.1",
        "http.proxyPort": str(port),
        "https.proxyHost": "127.0.0.1",
        "https.proxyPort": str(port),
        "http.nonProxyHosts": at_home,
        "javax.net.ssl.trustStore": truststore,
        "javax.net.ssl.trustStoreType": "PKCS12",
        "javax.net.ssl.trustStorePassword": TRUSTSTORE_PASSWORD,
        "aether.connector.http.useSystemProperties": "true",  # Maven 3.9 and later
    }
    return {"JAVA_TOOL_OPTIONS": " ".join(f"-D{name}={value}" for name, value in options.items())}


def apt_configuration(port: int, bundle: str) -> str:
    """apt's settings for one set-up."""
    settings: Mapping[str, str] = {
        "Acquire::http::Proxy": f"http://127.0.0.1:{port}",
        "Acquire::https::Proxy": f"http://127.0.0.1:{port}",
        "Acquire::https::CaInfo": bundle,
        "Acquire::Retries": "2",
        "Acquire::Languages": "none",
        "APT::Install-Recommends": "false",
        "APT::Get::Assume-Yes": "true",
        "APT::Cmd::Pattern-Only": "true",  # a name with a dot is no regular expression
        "Dpkg::Use-Pty": "0",
        "Dpkg::Options::": "--force-unsafe-io",
    }
    return "".join(f'{name} "{value}";\n' for name, value in settings.items())
