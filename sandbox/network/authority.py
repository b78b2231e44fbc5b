"""A certificate authority that lives in memory for one set-up.

The proxy reads https to hold it to GET and HEAD. Its certificates are trusted by nothing but
the set-up container; no key is written to a disk, and all end with the set-up.
"""

import os
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "Prism set-up, this container only"
VALID = timedelta(days=2)
_USAGE = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


class Authority:
    """Makes server certificates; one key for itself, one for all its servers."""

    def __init__(self) -> None:
        self._key = generate_private_key(SECP256R1())
        self._server_key = generate_private_key(SECP256R1())
        self._certificate = self._make_authority()
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def bundle(self) -> bytes:
        """The authority's certificate as PEM: the only one a set-up container trusts."""
        return self._certificate.public_bytes(Encoding.PEM)

    def context(self, host: str) -> ssl.SSLContext:
        """How the proxy answers as `host`: HTTP/1.1 only, TLS 1.2 or newer."""
        if host not in self._contexts:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            context.set_alpn_protocols(["http/1.1"])
            _load(context, self._server_pem(host))
            self._contexts[host] = context
        return self._contexts[host]

    def _make_authority(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
        public = self._key.public_key()
        return (
            _begin(name, name)
            .public_key(public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage("key_cert_sign", "crl_sign"), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(self._key, SHA256())
        )

    def _server_pem(self, host: str) -> bytes:
        public = self._server_key.public_key()
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        # A common name holds 64 characters at most; what is checked is the alternative name.
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
        certificate = (
            _begin(subject, self._certificate.subject)
            .public_key(public)
            .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage("digital_signature"), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, SHA256())
        )
        key = self._server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return key + certificate.public_bytes(Encoding.PEM)


def java_truststore(bundle: bytes, password: str) -> bytes:
    """The certificates of a PEM bundle as the PKCS#12 file Java reads."""
    certificates = [
        PKCS12Certificate(certificate, f"prism-{index}".encode())
        for index, certificate in enumerate(x509.load_pem_x509_certificates(bundle))
    ]
    return serialize_java_truststore(certificates, BestAvailableEncryption(password.encode()))


def _begin(subject: x509.Name, issuer: x509.Name) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))  # clocks differ
        .not_valid_after(now + VALID)
    )


def _usage(*names: str) -> x509.KeyUsage:
    return x509.KeyUsage(**{name: name in names for name in _USAGE})


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _load(context: ssl.SSLContext, pem: bytes) -> None:
    """Give a context its key without a file: the ssl module reads keys by path alone."""
    memory = os.memfd_create("server", os.MFD_CLOEXEC)
    try:
        os.write(memory, pem)
        context.load_cert_chain(f"/proc/self/fd/{memory}")
    finally:
        os.close(memory)
