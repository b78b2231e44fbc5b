"""Signatures: GitHub's own example, and everything that is not one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.intake.signature import is_signed, sign

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
# From GitHub's documentation, "Validating webhook deliveries".
KNOWN = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_githubs_own_example_is_signed() -> None:
    """The documented secret, body and signature belong together."""
    assert sign(SECRET, BODY) == KNOWN
    assert is_signed(SECRET, BODY, KNOWN)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "sha256=",
        KNOWN[:-1],
        KNOWN.upper(),
        KNOWN + "0",
        KNOWN[7:],
        "sha1=" + "0" * 40,
        "ü" * 71,
    ],
)
def test_anything_else_is_not(header: str) -> None:
    """Short, upper-case, SHA-1 and non-ASCII headers are refused without an error."""
    assert not is_signed(SECRET, BODY, header)


@given(body=st.binary(), secret=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_signature_covers_every_byte(body: bytes, secret: str) -> None:
    """A body with one byte more or another secret has another signature."""
    assert is_signed(secret, body, sign(secret, body))
    assert not is_signed(secret, body + b" ", sign(secret, body))
    assert not is_signed(secret + "x", body, sign(secret, body))
