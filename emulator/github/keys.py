"""The App's RSA key pair: the private half is written for the App, the public half checks JWTs."""

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


@dataclass(frozen=True, slots=True)
class AppKey:
    """Where the private key lies (PEM, PKCS#1, mode 0600), its text and the public key."""

    path: Path
    pem: str
    public: RSAPublicKey

    @classmethod
    def create(cls, path: Path) -> "AppKey":
        """Read the key at `path`, or make one of 2048 bits there (about 0.1 s)."""
        if not path.exists():
            key = generate_private_key(public_exponent=65537, key_size=2048)
            pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(pem)
        text = path.read_text()
        public = load_pem_private_key(text.encode(), None).public_key()
        assert isinstance(public, RSAPublicKey)
        return cls(path, text, public)
