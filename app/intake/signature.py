"""The signature of a delivery: HMAC-SHA256 over the raw bytes."""

import hashlib
import hmac


def sign(secret: str, body: bytes) -> str:
    """What GitHub puts into `X-Hub-Signature-256`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def is_signed(secret: str, body: bytes, header: str) -> bool:
    """Whether `header` is the signature of `body`; compares bytes in constant time."""
    return hmac.compare_digest(sign(secret, body).encode(), header.encode("utf-8", "surrogatepass"))
