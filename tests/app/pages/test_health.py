"""Health: three questions, honest answers."""

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from app.jobs.embedded import free_port
from app.settings import Settings, SettingsError
from app.web import create_app

SECRET = "0123456789abcdef0123456789abcdef"


def _settings(tmp_path: Path, redis_url: str) -> Settings:
    return Settings(webhook_secret=SECRET, data_dir=tmp_path, redis_url=redis_url)


def test_a_process_that_has_what_it_needs_is_ready(tmp_path: Path, redis_url: str) -> None:
    """Ping, alive, ready."""
    with TestClient(create_app(_settings(tmp_path, redis_url))) as client:
        assert client.get("/ping").text == "PONG"
        assert client.get("/healthz").json() == {"status": "ok"}
        ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json() == {"status": "ok", "database": "ok", "redis": "ok"}


def test_a_missing_redis_is_named(tmp_path: Path) -> None:
    """Not ready, but alive: the process is not to be restarted for it."""
    down = f"redis://127.0.0.1:{free_port()}/0"
    with TestClient(create_app(_settings(tmp_path, down))) as client:
        ready = client.get("/readyz")
        assert client.get("/healthz").status_code == 200
    assert ready.status_code == 503
    assert ready.json()["database"] == "ok"
    assert ready.json()["redis"].startswith("Redis does not answer")


def test_a_database_of_another_version_is_named(tmp_path: Path, redis_url: str) -> None:
    """With the version that is there and the one that is needed."""
    with TestClient(create_app(_settings(tmp_path, redis_url))) as client:
        engine = create_engine(f"sqlite:///{tmp_path / 'prism.db'}")
        with engine.begin() as conn:
            conn.execute(text("UPDATE alembic_version SET version_num = '0000'"))
        engine.dispose()
        ready = client.get("/readyz")
    assert ready.status_code == 503
    assert "0000" in ready.json()["database"]
    assert ready.json()["redis"] == "ok"


@pytest.mark.parametrize("secret", ["", "development", "short", "changeme"])
def test_a_secret_that_protects_nothing_does_not_start(tmp_path: Path, secret: str) -> None:
    """Empty, short and well-known secrets are refused with what to do."""
    with pytest.raises(SettingsError, match="openssl rand"):
        create_app(Settings(webhook_secret=secret, data_dir=tmp_path))
