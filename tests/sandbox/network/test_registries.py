"""What is read of this machine's configuration, and what of it enters a container."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.environment.passthrough import PLACEHOLDER, installer_environment, secrets_in
from sandbox.network.registries import Registries, operator_registries
from sandbox.network.request import Origin

ALL = ("python", "node", "debian")


async def read(environ: dict[str, str], *ecosystems: str) -> Registries:
    """The registries of an environment."""
    return await operator_registries(ecosystems or ALL, environ, {})


def program(folder: Path, name: str, output: str) -> None:
    """An installed client that answers one thing, and only the question it is meant for."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncase $1 in config|indextargets) cat <<'X'\n{output}\nX\nesac\n")
    path.chmod(0o755)


async def test_nothing_configured() -> None:
    """Without variables, clients and files there are only the public registries."""
    assert await read({"PATH": "", "HOME": "/nonexistent"}) == Registries()


async def test_variables(tmp_path: Path) -> None:
    """Hosts are allowed; passwords leave the container's variables and stay with the proxy."""
    environ = {
        "PIP_INDEX_URL": "https://me:pass%40word@pypi.corp.test/simple",
        "PIP_EXTRA_INDEX_URL": "http://10.0.0.5:8081/simple https://two.test/simple",
        "NPM_CONFIG_REGISTRY": "https://npm.corp.test:8443/",
        "GOPROXY": "https://go.corp.test,direct",
        "UV_INDEX_URL": "https://token@uv.corp.test/simple",
        "CARGO_REGISTRIES_OWN_INDEX": "sparse+https://crates.corp.test/index/",
        "CARGO_REGISTRIES_OWN_TOKEN": "cargo-token",
        "PIP_FIND_LINKS": "/opt/wheels",
        "PIP_CERT": "/etc/ca.pem",
        "AWS_SECRET_ACCESS_KEY": "no",
    }
    found = await read(environ)
    assert set(found.hosts) == {
        "pypi.corp.test",
        "10.0.0.5:8081",
        "two.test",
        "npm.corp.test:8443",
        "go.corp.test",
        "uv.corp.test",
        "crates.corp.test",
    }
    assert dict(found.credentials) == {
        Origin("https", "pypi.corp.test", 443): "Basic bWU6cGFzc0B3b3Jk",
        Origin("https", "uv.corp.test", 443): "Basic dG9rZW46",
        Origin("https", "crates.corp.test", 443): "cargo-token",
    }
    assert found.env["PIP_INDEX_URL"] == "https://pypi.corp.test/simple"
    assert found.env["CARGO_REGISTRIES_OWN_TOKEN"] == PLACEHOLDER
    assert not {"PIP_FIND_LINKS", "PIP_CERT", "AWS_SECRET_ACCESS_KEY"} & set(found.env)
    assert "pass" not in repr(found)


async def test_clients_are_asked(tmp_path: Path) -> None:
    """Their configuration counts like variables, which win over it."""
    program(
        tmp_path / "bin", "pip", "global.index-url='https://a:b@pip.test/simple'\nglobal.cert='/x'"
    )
    program(tmp_path / "bin", "npm", "https://npm.test/")
    program(tmp_path / "bin", "apt-get", "http://apt.test/debian\nhttp://apt.test/security")
    environ = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    found = await read(environ)
    assert set(found.hosts) == {"pip.test", "npm.test", "apt.test"}
    assert found.env == {
        "PIP_INDEX_URL": "https://pip.test/simple",
        "NPM_CONFIG_REGISTRY": "https://npm.test/",
    }
    assert list(found.credentials.values()) == ["Basic YTpi"]
    own = await read({**environ, "PIP_INDEX_URL": "https://own.test/simple"}, "python")
    assert own.hosts == ("own.test",)


async def test_failing_clients(tmp_path: Path) -> None:
    """One that fails or says something odd has nothing configured."""
    program(tmp_path / "bin", "pip", "WARNING\nglobal.index-url=\nindex-url='https://x.test'")
    program(tmp_path / "bin", "npm", "undefined")
    (tmp_path / "bin" / "apt-get").write_text("#!/bin/sh\necho http://half.test; exit 1\n")
    (tmp_path / "bin" / "apt-get").chmod(0o755)
    environ = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "HOME": str(tmp_path)}
    assert (await read(environ)).hosts == ()


async def test_files_of_passwords(tmp_path: Path) -> None:
    """npm's file and netrc give passwords to registries that are used, to no others."""
    (tmp_path / ".npmrc").write_text(
        "@corp:registry=https://npm.test/own/\n//npm.test/own/:_authToken=${TOKEN}\n"
        "//other.test/:_authToken=unused\n"
    )
    (tmp_path / ".netrc").write_text(
        "machine pip.test login me password word\nmachine x.test login a password b\n"
    )
    (tmp_path / ".netrc").chmod(0o600)
    environ = {
        "HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://pip.test/simple",
        "TOKEN": "npm-token",
    }
    found = await read(environ)
    assert dict(found.credentials) == {
        Origin("https", "npm.test", 443): "Bearer npm-token",
        Origin("https", "pip.test", 443): "Basic bWU6d29yZA==",
    }
    assert "npm-token" not in str(dict(found.env))


SECRET = st.from_regex(r"[A-Za-z0-9]{12,20}", fullmatch=True)


@given(user=SECRET, word=SECRET, scheme=st.sampled_from(["http", "https", "sparse+https"]))
def test_no_password_enters(user: str, word: str, scheme: str) -> None:
    """Whatever variable an address with a password is in, among however many."""
    url = f"{scheme}://{user}:{word}@index.test/simple"
    for name in (
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "GOPROXY",
        "UV_INDEX",
        "CARGO_REGISTRIES_A_INDEX",
    ):
        for value in (url, f"https://a.test {url}", f"{url},direct", f"{url}|{url}"):
            found = installer_environment({name: value})
            assert word not in found[name]
            assert user not in found[name]
            assert "index.test/simple" in found[name]
            assert secrets_in(found) == ()


@pytest.mark.parametrize(
    "name", ["HTTP_PROXY", "https_proxy", "NO_PROXY", "NPM_TOKEN", "HOME", "PATH"]
)
def test_what_never_enters(name: str) -> None:
    """This machine's own proxies and everything that is not an installer's."""
    assert installer_environment({name: "http://proxy.test:8080"}) == {}
