"""Certificates of one set-up."""

import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
from cryptography.x509.verification import PolicyBuilder, Store

from sandbox.network.authority import Authority, java_truststore
from sandbox.network.clients import TRUSTSTORE_PASSWORD


@pytest.mark.parametrize("host", ["pypi.org", "a." * 60 + "test", "10.0.0.1", "2001:db8::1"])
def test_certificates_are_strictly_valid(host: str) -> None:
    """They pass the checks of the web's rules for the host they name, long ones and addresses."""
    authority = Authority()
    pem = authority._server_pem(host)
    leaf = x509.load_pem_x509_certificates(pem[pem.index(b"-----BEGIN CERTIFICATE") :])[0]
    root = x509.load_pem_x509_certificate(authority.bundle)
    name = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value[0]
    builder = PolicyBuilder().store(Store([root]))
    assert builder.build_server_verifier(name).verify(leaf, []) == [leaf, root]


def test_no_key_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making certificates opens no file for writing."""
    opened: list[str] = []
    real = open

    def watching(file, mode="r", *rest, **more):
        opened.append(mode)
        return real(file, mode, *rest, **more)

    monkeypatch.setattr("builtins.open", watching)
    authority = Authority()
    first = authority.context("pypi.org")
    assert authority.context("pypi.org") is first
    assert not [mode for mode in opened if set(mode) & set("wax+")]
    assert b"PRIVATE" not in authority.bundle


def test_authorities_differ() -> None:
    """Two set-ups trust nothing of each other."""
    assert Authority().bundle != Authority().bundle


def test_java_reads_the_trust_store(tmp_path: Path) -> None:
    """The store has every certificate of the bundle and no key."""
    bundle = Authority().bundle + Authority().bundle
    data = java_truststore(bundle, TRUSTSTORE_PASSWORD)
    store = load_pkcs12(data, TRUSTSTORE_PASSWORD.encode())
    assert (store.key, len(store.additional_certs)) == (None, 2)
    keytool = shutil.which("keytool")
    if keytool:
        (tmp_path / "trust.p12").write_bytes(data)
        command = [keytool, "-list", "-storepass", TRUSTSTORE_PASSWORD, "-keystore"]
        listing = subprocess.run([*command, tmp_path / "trust.p12"], check=True, stdout=-1).stdout
        assert listing.count(b"trustedCertEntry") == 2
