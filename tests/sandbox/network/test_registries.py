"""What is read of this machine's configuration, and what of it enters a container."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.environment.passthrough import (
    PLACEHOLDER,
    installer_environment,
    notes_on,
    secrets_in,
)
from sandbox.network.registries import Registries, operator_registries

ALL = ("python", "node", "debian")


async def read(environ: dict[str, str], *ecosystems: str) -> Registries:
    """The registries of an environment."""
    return await operator_registries(ecosystems or ALL, environ, {})


def known(found: Registries) -> dict[str, str]:
    """What is sent, by host and path."""
    return {
        f"{each.origin.authority}{each.prefix}": each.authorization for each in found.credentials
    }


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
    assert known(found) == {
        "pypi.corp.test/": "Basic bWU6cGFzc0B3b3Jk",
        "uv.corp.test/": "Basic dG9rZW46",
        "crates.corp.test/": "cargo-token",
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
    assert known(found) == {"pip.test/": "Basic YTpi"}
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
    assert known(found) == {
        "npm.test/own/": "Bearer npm-token",
        "pip.test/": "Basic bWU6d29yZA==",
    }
    assert "npm-token" not in str(dict(found.env))


async def test_one_host_with_many_registries(tmp_path: Path) -> None:
    """Each path has its own password, however many of them one host serves."""
    (tmp_path / ".npmrc").write_text(
        "@a:registry=https://one.test/npm/a/\n@b:registry=https://one.test/npm/b/\n"
        "//one.test/npm/a/:_authToken=token-a\n//one.test/npm/b:_auth=token-b\n"
    )
    (tmp_path / ".netrc").write_text("machine one.test login me password word\n")
    (tmp_path / ".netrc").chmod(0o600)
    environ = {
        "HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://u:1@one.test/pypi/a/simple",
        "PIP_EXTRA_INDEX_URL": "https://u:2@one.test/pypi/b/simple https://one.test/pypi/c/simple",
        "CARGO_REGISTRIES_OWN_INDEX": "sparse+https://one.test/cargo/index/",
        "CARGO_REGISTRIES_OWN_TOKEN": "cargo-token",
    }
    found = await read(environ)
    assert known(found) == {
        "one.test/npm/a/": "Bearer token-a",
        "one.test/npm/b/": "Basic token-b",
        "one.test/pypi/a/": "Basic dTox",
        "one.test/pypi/b/": "Basic dToy",
        "one.test/pypi/c/": "Basic bWU6d29yZA==",
        "one.test/cargo/": "cargo-token",
    }
    assert found.hosts == ("one.test",)


async def test_further_paths() -> None:
    """The operator names other places of a password; which one is never guessed."""
    one = {"PIP_INDEX_URL": "https://u:1@one.test/pypi/simple"}
    wider = {
        **one,
        "PRISM_SETUP_AUTH": "https://one.test/files/ https://a:b@two.test/x https://three.test/",
    }
    found = await read(wider)
    assert known(found) == {
        "one.test/pypi/": "Basic dTox",
        "one.test/files/": "Basic dTox",
        "two.test/x/": "Basic YTpi",
    }
    assert set(found.hosts) == {"one.test", "two.test", "three.test"}
    two = {**wider, "PIP_EXTRA_INDEX_URL": "https://u:2@one.test/other/simple"}
    assert "one.test/files/" not in known(await read(two))
    assert not any("PRISM_SETUP_AUTH" in name for name in found.env)


SECRET = st.from_regex(r"[A-Za-z0-9]{12,20}", fullmatch=True)


@given(user=SECRET, word=SECRET, scheme=st.sampled_from(["http", "https", "sparse+https"]))
def test_no_password_enters(user: str, word: str, scheme: str) -> None:
    """Whatever variable an address with a password is in, among however many."""
    url = f"{scheme}://{user}:{word}@index.test/simple"
    for name in (
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "NPM_CONFIG_REGISTRY",
        "YARN_NPM_REGISTRY_SERVER",
        "GOPROXY",
        "UV_INDEX",
        "CARGO_REGISTRIES_A_INDEX",
    ):
        values = (url, f"https://a.test {url}", f"{url},direct", f"{url}|{url}", f"own={url}")
        for value in (*values, f"{url}?token={word}", f"{url}#{word}", f"{url}/?a=b&c={word}"):
            found = installer_environment({name: value})
            assert word not in found[name]
            assert user not in found[name]
            assert "index.test/simple" in found[name]
            assert secrets_in(found) == ()
            assert word in secrets_in({name: value})


@given(word=SECRET, odd=st.sampled_from("/?#,|@: \\"), port=st.booleans())
def test_addresses_that_cannot_be_read(word: str, odd: str, port: bool) -> None:
    """A password with a character that ends it too early does not enter in part either."""
    value = f"https://user:{'1' if port else 'first'}{odd}{word}@index.test/simple"
    for name in ("PIP_INDEX_URL", "GOPROXY", "NPM_CONFIG_REGISTRY", "CARGO_REGISTRIES_A_INDEX"):
        assert word not in installer_environment({name: value}).get(name, "")


def test_queries_are_not_handed_over() -> None:
    """A token behind ? neither enters nor is sent, and a note says so without it."""
    environ = {
        "PIP_INDEX_URL": "https://x.test/simple?token=Secret-1",
        "NPM_CONFIG_REGISTRY": "https://x.test/npm/?apikey=Secret-2",
        "UV_INDEX_URL": "https://x.test/simple",
    }
    handed = installer_environment(environ)
    assert handed["PIP_INDEX_URL"] == "https://x.test/simple"
    assert handed["NPM_CONFIG_REGISTRY"] == "https://x.test/npm/"
    notes = notes_on(environ)
    assert [note.split(":")[0] for note in notes] == ["PIP_INDEX_URL", "NPM_CONFIG_REGISTRY"]
    assert "Secret" not in str(notes)
    assert set(secrets_in(environ)) == {"Secret-1", "Secret-2"}


@pytest.mark.parametrize(
    "name",
    [
        "CARGO_REGISTRIES_X_CREDENTIAL_PROVIDER",
        "CARGO_REGISTRIES_X_SECRET_KEY",
        "YARN_NPM_REGISTRY_AUTH_IDENT",
        "YARN_NPM_REGISTRIES",
    ],
)
def test_variables_that_may_hold_a_password(name: str) -> None:
    """They are withheld whole, and a note says so."""
    assert installer_environment({name: "cargo:token Secret"}) == {}
    (note,) = notes_on({name: "cargo:token Secret"})
    assert name in note
    assert "Secret" not in note


def test_what_is_searched_for() -> None:
    """Passwords as written and as sent; nothing so short that it is found everywhere."""
    environ = {
        "PIP_INDEX_URL": "https://long-token-1@x.test/simple https://u:pass%40word@y.test/simple",
        "GOPROXY": "https://a:first@x.test,https://b:second@y.test|https://c:third@z.test,direct",
        "UV_INDEX": "own=https://u:fourth@x.test/simple",
        "CARGO_REGISTRIES_A_INDEX": "ssh://git@x.test/index",
        "NPM_CONFIG_REGISTRY": "https://x.test/?a=1",
    }
    assert set(secrets_in(environ)) == {
        "long-token-1", "pass%40word", "pass@word", "first", "second", "third", "fourth",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["HTTP_PROXY", "https_proxy", "NO_PROXY", "NPM_TOKEN", "HOME", "PATH"]
)
def test_what_never_enters(name: str) -> None:
    """This machine's own proxies and everything that is not an installer's."""
    assert installer_environment({name: "http://proxy.test:8080"}) == {}
