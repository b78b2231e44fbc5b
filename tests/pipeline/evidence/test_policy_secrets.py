"""The patch policy lets no secret out."""

import base64

import pytest

from pipeline.evidence.policy import check_patch
from sandbox.patch.patch import combine

TAKES_OUT = """diff --git a/pkg/a.py b/pkg/a.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/pkg/a.py
+++ b/pkg/a.py
@@ -1 +1 @@
-key = "{}"
+key = load()
"""
A36 = "aB3" * 12
KEYS = [
    "ghp_" + A36,
    "gho_" + A36,
    "ghs_" + "1_eyJhbGciOi.J9-x_" * 28 + "tail",
    "github_pat_" + A36,
    "glpat-" + A36[:20],
    "AKIA" + "ABCDEFGH23456777",
    "aws_secret_access_key = " + A36 + "abcd",
    '"SecretAccessKey": "' + A36 + 'abcd"',
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN PRIVATE KEY-----",
    "xoxb-1234567890-1234567890-" + A36[:20],
    "hooks.slack.com/services/T12345678/B1/x",
    "AIza" + A36[:35],
    "ABSK" + A36 + A36,
    "sk_live_" + A36,
    "sk-ant-api03-" + A36,
    "sk-proj-" + A36 + A36,
    "sk-" + "0123456789abcdef" * 2,
    "hf_" + A36,
    "npm_" + A36,
    "pypi-AgEIcHlwaS5vcmc" + A36 + A36,
    "dckr_pat_" + A36,
    "dop_v1_" + "0123456789abcdef" * 4,
    "SG." + A36[:22] + "." + A36 + A36[:7],
    "shpat_" + "0123456789abcdef" * 2,
    "hvs." + A36,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV",
    "12345678:AA" + A36[:33],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_secret_in_an_added_line_is_refused(key: str) -> None:
    """Every vendor's current shape is found in code, and reasons never repeat the secret."""
    verdict = check_patch(combine("", {"pkg/a.py": f'key = "{key}"\n'}))
    assert any("holds a" in reason for reason in verdict.refused)
    assert not any(key in reason for reason in verdict.refused)
    assert not check_patch(TAKES_OUT.format(key)).refused


@pytest.mark.parametrize("key", ["ghp_" + A36, "sk-ant-api03-" + A36, "AKIA" + "ABCDEFGH23456777"])
@pytest.mark.parametrize("hide", ["lines", "strings", "base64"])
def test_a_hidden_secret_is_refused(key: str, hide: str) -> None:
    """Splitting a secret over lines or strings, or base64, does not hide it."""
    half = len(key) // 2
    text = {
        "lines": f'key = (\n    "{key[:half]}"\n    "{key[half:]}"\n)\n',
        "strings": f'key = "{key[:half]}" + "{key[half:]}"\n',
        "base64": f'key = b64decode("{base64.b64encode(b"token=" + key.encode()).decode()}")\n',
    }[hide]
    assert check_patch(combine("", {"pkg/a.py": text})).refused
