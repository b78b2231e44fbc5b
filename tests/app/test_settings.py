"""Settings: what is read from the environment, and what is refused."""

import base64
import stat
from pathlib import Path

import pytest

from app.github.client import secrets_of
from app.settings import SettingsError, read_settings, require_data_dir, require_webhook_secret

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----"


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing has to be set to read settings: what is missing is asked for where it is needed."""
    settings = read_settings({})
    assert settings.label == "prism-fix"
    assert settings.api_url == "https://api.github.com"
    assert settings.database.startswith("sqlite+aiosqlite:////")


@pytest.mark.parametrize(
    "value", [PEM, PEM.replace("\n", "\\n"), base64.b64encode(PEM.encode()).decode()]
)
def test_a_private_key_is_read_in_every_form_probot_accepts(value: str) -> None:
    """Raw, with escaped line ends and as base64."""
    assert read_settings({"PRIVATE_KEY": value}).private_key == PEM


def test_a_private_key_is_read_from_a_file(tmp_path: Path) -> None:
    """PRIVATE_KEY_PATH names a PEM file."""
    (tmp_path / "key.pem").write_text(PEM)
    settings = read_settings({"PRIVATE_KEY_PATH": str(tmp_path / "key.pem")})
    assert settings.private_key == PEM


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "many"),
        ("PORT", "99999"),
        ("PORT", "65536"),
        ("PORT", "0"),
        ("PORT", "0.5"),
        ("PORT", "nan"),
        ("PORT", "inf"),
        ("PRISM_BUDGET_USD", "0"),
        ("PRISM_BUDGET_USD", "nan"),
        ("PRISM_SANDBOX", "vm"),
        ("PRISM_SANDBOX_ALLOW_PTRACE", "perhaps"),
        ("PRISM_SANDBOX_MEMORY_MB", "63"),
        ("PRISM_SANDBOX_MEMORY_MB", "2g"),
        ("PRISM_SANDBOX_CPUS", "0.05"),
        ("PRISM_SANDBOX_PROCESSES", "-1"),
        ("PRISM_SANDBOX_TEST_MINUTES", "0"),
        ("PRIVATE_KEY", "nonsense"),
        ("PRIVATE_KEY_PATH", "/does/not/exist.pem"),
        ("GHE_PROTOCOL", "ftp"),
        ("PRISM_ITEM_SHARE", "1.5"),
        ("PRISM_ITEM_SHARE", "0"),
        ("PRISM_ITEM_MINUTES", "-1"),
        ("PRISM_CONTEXT_TOKENS", "many"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str) -> None:
    """The error names the variable, so that the operator need not guess."""
    with pytest.raises(SettingsError, match=name):
        read_settings({name: value})


@pytest.mark.parametrize("secret", ["", "development", "short", "a" * 15, "a" * 64, "0123456" * 9])
def test_a_weak_webhook_secret_refuses_to_start(secret: str) -> None:
    """Empty, well-known, short and monotonous secrets are all refused."""
    with pytest.raises(SettingsError, match="WEBHOOK_SECRET"):
        require_webhook_secret(read_settings({"WEBHOOK_SECRET": secret}))


def test_the_data_folder_is_for_its_user_alone(tmp_path: Path) -> None:
    """It holds the ledger and mirrors of private repositories; an existing one is left as it is."""
    require_data_dir(read_settings({"PRISM_DATA_DIR": str(tmp_path / "a" / "data")}))
    assert stat.S_IMODE((tmp_path / "a" / "data").stat().st_mode) == 0o700
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o750)
    require_data_dir(read_settings({"PRISM_DATA_DIR": str(tmp_path / "shared")}))
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o750


def test_secrets_do_not_show_in_a_printed_settings_object() -> None:
    """A settings object that ends up in a log line shows no secret."""
    shown = repr(read_settings({"WEBHOOK_SECRET": "canary-1" * 4, "ANTHROPIC_API_KEY": "canary-2"}))
    assert "canary" not in shown


def test_an_enterprise_host_is_used_for_pages_and_api() -> None:
    """GHE_HOST and GHE_PROTOCOL lead to the API below /api/v3."""
    settings = read_settings({"GHE_HOST": "127.0.0.1:8099", "GHE_PROTOCOL": "http"})
    assert settings.api_url == "http://127.0.0.1:8099/api/v3"
    assert settings.github_url == "http://127.0.0.1:8099"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:9", True),
        ("https://api.anthropic.com", False),
        ("http://127.0.0.1.evil", False),
    ],
)
def test_only_loopback_counts_as_a_local_model(url: str, local: bool) -> None:
    """The process backend depends on this answer, so look-alikes must not pass."""
    assert read_settings({"ANTHROPIC_BASE_URL": url}).model_is_local is local


def test_every_key_of_a_provider_is_kept_out_of_texts() -> None:
    """What the server publishes is checked for them, and a printed settings object hides them."""
    names = ("ANTHROPIC_API_KEY", "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY")
    environ = {name: f"value-of-{name}" for name in (*names, "AWS_SESSION_TOKEN")}
    settings = read_settings(environ)
    assert set(environ.values()) <= set(secrets_of(settings))
    assert not any(value in repr(settings) for value in environ.values())
    assert "" not in secrets_of(read_settings({"WEBHOOK_SECRET": "w", "ANTHROPIC_API_KEY": "a"}))
