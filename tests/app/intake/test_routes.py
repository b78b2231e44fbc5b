"""The webhook over HTTP, with true signatures, a real ledger and a real Redis."""

import asyncio
import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from app.intake.routes import MAX_BODY_BYTES
from app.intake.signature import sign
from app.jobs.embedded import free_port
from app.settings import Settings
from app.web import create_app

SECRET = "0123456789abcdef0123456789abcdef"
PATH = "/api/github/webhooks"
LABELED: dict[str, Any] = {
    "action": "labeled",
    "issue": {"id": 11, "number": 3, "updated_at": "2026-01-01T00:00:00Z", "body": None},
    "label": {"id": 12, "name": "prism-fix"},
    "repository": {"id": 2**40, "full_name": "acme/widgets"},
    "installation": {"id": 7},
    "sender": {"id": 5, "login": "ann", "type": "User"},
}


def _settings(tmp_path: Path, redis_url: str) -> Settings:
    return Settings(webhook_secret=SECRET, data_dir=tmp_path, redis_url=redis_url)


@pytest.fixture
def client(tmp_path: Path, redis_url: str) -> Iterator[TestClient]:
    """The web process without its socket."""
    with TestClient(create_app(_settings(tmp_path, redis_url))) as client:
        yield client


def _headers(body: bytes, **changes: str | None) -> dict[str, str]:
    headers: dict[str, str | None] = {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-github-delivery": "guid-1",
        "x-hub-signature-256": sign(SECRET, body),
        **{key.replace("_", "-"): value for key, value in changes.items()},
    }
    return {key: value for key, value in headers.items() if value is not None}


def _post(client: TestClient, body: bytes | None = None, **changes: str | None) -> Any:
    body = json.dumps(LABELED).encode() if body is None else body
    return client.post(PATH, content=body, headers=_headers(body, **changes))


def _rows(tmp_path: Path) -> list[Any]:
    engine = create_engine(f"sqlite:///{tmp_path / 'prism.db'}")
    with engine.connect() as conn:
        rows = list(conn.execute(text("SELECT guid, event, outcome FROM inbox ORDER BY guid")))
    engine.dispose()
    return rows


def _jobs(redis_url: str) -> list[bytes]:
    with redis.Redis.from_url(redis_url) as connection:
        return [connection.get(key) for key in connection.keys("arq:job:*")]


def test_a_label_is_recorded_and_a_worker_is_woken(
    client: TestClient, tmp_path: Path, redis_url: str
) -> None:
    """202 after the row; the job holds the delivery's id and nothing else."""
    assert _post(client).status_code == 202
    assert [(row.guid, row.outcome) for row in _rows(tmp_path)] == [("guid-1", None)]
    (job,) = _jobs(redis_url)
    assert json.loads(job)["f"] == "admit"
    assert json.loads(job)["a"] == ["guid-1"]


def test_a_redelivery_is_known(client: TestClient, tmp_path: Path, redis_url: str) -> None:
    """The same id again: 200, one row, one job."""
    assert [_post(client).status_code for _ in range(3)] == [202, 200, 200]
    assert len(_rows(tmp_path)) == 1
    assert len(_jobs(redis_url)) == 1


def test_five_parallel_deliveries_are_one(
    client: TestClient, tmp_path: Path, redis_url: str
) -> None:
    """One is recorded, four are known, whatever the order."""
    with ThreadPoolExecutor(5) as pool:
        answers = [done.result() for done in [pool.submit(_post, client) for _ in range(5)]]
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 200, 202]
    assert len(_rows(tmp_path)) == 1
    assert len(_jobs(redis_url)) == 1


def test_a_replay_under_a_new_id_is_known(
    client: TestClient, tmp_path: Path, redis_url: str
) -> None:
    """The id is not signed: the event behind it decides."""
    assert _post(client).status_code == 202
    assert _post(client, x_github_delivery="guid-2").status_code == 200
    assert len(_rows(tmp_path)) == 1
    assert len(_jobs(redis_url)) == 1


BODY = json.dumps(LABELED).encode()


@pytest.mark.parametrize(
    "signature",
    [
        None,
        "",
        "sha256=",
        sign(SECRET, BODY)[:-1],
        sign(SECRET, BODY).upper(),
        "sha1=" + "a" * 40,
        sign("another secret of good length", BODY),
        "sha256=" + "ü" * 64,
    ],
)
def test_a_bad_signature_is_refused(
    client: TestClient, tmp_path: Path, signature: str | None
) -> None:
    """Missing, cut, upper-case, SHA-1, another secret, not ASCII: 401 and no row."""
    headers = _headers(BODY, x_hub_signature_256=signature)
    raw = [(key.encode(), value.encode("latin-1")) for key, value in headers.items()]
    assert client.post(PATH, content=BODY, headers=raw).status_code == 401
    assert _rows(tmp_path) == []


def test_a_signature_of_the_same_json_written_differently_is_refused(client: TestClient) -> None:
    """Bytes are signed, not meanings."""
    spaced = json.dumps(LABELED, indent=1).encode()
    answer = client.post(PATH, content=spaced, headers=_headers(BODY))
    assert answer.status_code == 401


def test_a_bad_signature_is_refused_before_the_body_is_read_as_json(client: TestClient) -> None:
    """Who cannot sign learns nothing about parsing."""
    assert _post(client, b"{", x_hub_signature_256=sign("other", b"{")).status_code == 401


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": None}, 415),
        ({"x_github_event": None}, 400),
        ({"x_github_delivery": None}, 400),
        ({"x_github_delivery": "../../etc"}, 400),
        ({"x_github_delivery": "a" * 65}, 400),
        ({"x_github_event": "not_an_event"}, 200),
        ({"x_github_event": "issue_comment"}, 200),
        ({"x_github_event": "ping"}, 200),
    ],
)
def test_headers_that_do_not_fit(
    client: TestClient, tmp_path: Path, redis_url: str, changes: dict[str, str | None], status: int
) -> None:
    """A clear status each, no row and no job."""
    assert _post(client, **changes).status_code == status
    assert _rows(tmp_path) == []
    assert _jobs(redis_url) == []


def test_parameters_of_the_content_type_do_not_matter(client: TestClient) -> None:
    """`application/json; charset=utf-8` is JSON."""
    assert _post(client, content_type="Application/JSON; charset=utf-8").status_code == 202


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[]",
        b'{"action": NaN}',
        b'{"action": "labeled", "action": "labeled"}',
        b"[" * 10_000 + b"]" * 10_000,
        b"\xff\xff",
        gzip.compress(BODY),
        b'{"action": "labeled", "label": {"name": "prism-fix"}}',
        BODY.replace(b'"id": 11', b'"id": 1e3'),
        BODY.replace(b'"id": 11', b'"id": 99999999999999999999'),
    ],
)
def test_a_signed_body_that_makes_no_sense_is_refused(
    client: TestClient, tmp_path: Path, body: bytes
) -> None:
    """400 with a sentence, never 5xx, no row."""
    answer = _post(client, body)
    assert answer.status_code == 400
    assert answer.text.endswith(".") or "not JSON" in answer.text
    assert _rows(tmp_path) == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_other_methods_are_not_allowed(client: TestClient, method: str) -> None:
    """405 for everything but POST."""
    assert client.request(method, PATH).status_code == 405


@pytest.mark.parametrize("path", [PATH + "/", PATH + "/x", "/api/github/../github/webhooks/.."])
def test_other_paths_are_not_there(client: TestClient, path: str) -> None:
    """No path but the webhook's own records anything."""
    assert client.post(path, content=BODY, headers=_headers(BODY)).status_code == 404


def test_a_body_of_the_allowed_size_is_accepted(client: TestClient, tmp_path: Path) -> None:
    """Exactly 25 MiB."""
    body = BODY[:-1] + b', "pad": "'
    body += b"x" * (MAX_BODY_BYTES - len(body) - 2) + b'"}'
    assert len(body) == MAX_BODY_BYTES
    assert _post(client, body).status_code == 202
    assert len(_rows(tmp_path)) == 1


def test_a_body_that_is_announced_too_large_is_not_read(client: TestClient) -> None:
    """413 from the announced length alone."""
    assert _post(client, b"{}", content_length=str(MAX_BODY_BYTES + 1)).status_code == 413


async def test_an_endless_body_is_cut_at_the_cap(tmp_path: Path, redis_url: str) -> None:
    """Without an announced length: 413 after at most one chunk more than the cap."""
    chunk, read = b"x" * (1024 * 1024), 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += len(chunk)
        return {"type": "http.request", "body": chunk, "more_body": True}

    status, _ = await _raw(_settings(tmp_path, redis_url), receive)
    assert status == 413
    assert read <= MAX_BODY_BYTES + len(chunk)


async def test_a_sender_that_goes_away_leaves_nothing(tmp_path: Path, redis_url: str) -> None:
    """A body that breaks off is refused and not recorded."""
    messages = [
        {"type": "http.request", "body": BODY[:10], "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    status, _ = await _raw(_settings(tmp_path, redis_url), receive)
    assert status == 400
    assert _rows(tmp_path) == []


async def test_a_slow_sender_is_cut_off(
    tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that does not arrive in time gives 408; nobody holds a connection for ever."""
    monkeypatch.setattr("app.intake.routes.BODY_TIMEOUT_S", 0.2)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        raise AssertionError

    status, _ = await _raw(_settings(tmp_path, redis_url), receive)
    assert status == 408


def test_a_delivery_survives_that_redis_is_down(tmp_path: Path) -> None:
    """The answer is 202 all the same: the sweep finds the row."""
    down = f"redis://127.0.0.1:{free_port()}/0"
    with TestClient(create_app(_settings(tmp_path, down))) as client:
        assert _post(client).status_code == 202
    assert [row.guid for row in _rows(tmp_path)] == ["guid-1"]


def test_a_ledger_that_cannot_write_is_not_a_success(
    client: TestClient, tmp_path: Path, redis_url: str
) -> None:
    """503, so that GitHub shows the delivery as failed and it can be sent again."""
    engine = create_engine(f"sqlite:///{tmp_path / 'prism.db'}")
    with engine.begin() as conn:
        conn.execute(text("ALTER TABLE inbox RENAME TO gone"))
    assert _post(client).status_code == 503
    with engine.begin() as conn:
        conn.execute(text("ALTER TABLE gone RENAME TO inbox"))
    engine.dispose()
    assert _post(client).status_code == 202


async def _raw(settings: Settings, receive: Any) -> tuple[int, bytes]:
    """Send a request message by message, as no HTTP client would; returns status and body."""
    app, sent = create_app(settings), list[Any]()
    headers = [(key.encode(), value.encode()) for key, value in _headers(BODY).items()]
    async with app.router.lifespan_context(app) as state:
        scope = {
            "type": "http",
            "method": "POST",
            "path": PATH,
            "raw_path": PATH.encode(),
            "query_string": b"",
            "headers": headers,
            "state": dict(state or {}),
        }

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], body
