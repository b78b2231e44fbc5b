"""The run page: only for those with its address, and harmless whatever a model wrote."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine
from starlette.testclient import TestClient

from app.ledger.tables import item, run, snapshot
from app.messages.facts import Spent
from app.messages.page import run_page
from app.pages.link import run_token, run_url
from app.settings import Settings
from app.web import create_app
from pipeline.values import Usage
from tests.app.messages.conftest import EVIL, make

SECRET = "0123456789abcdef0123456789abcdef"
PATH = "Critical path: global/G1 2 s → code/G1 3 s"
RUN = "r-0123456789abcdef"


@pytest.fixture
def client(tmp_path: Path, redis_url: str):
    """A web process whose ledger has one run, without a stored page."""
    settings = Settings(webhook_secret=SECRET, data_dir=tmp_path, redis_url=redis_url)
    with TestClient(create_app(settings)) as client:
        engine = create_engine(f"sqlite:///{tmp_path / 'prism.db'}")
        with engine.begin() as conn:
            for table in (snapshot, run):
                conn.execute(table.insert().values(_row(table)))
        client.engine = engine
        yield client
        engine.dispose()


def _row(table) -> dict:
    """A value for each column that must have one."""
    named = {"id": RUN, "snapshot_id": RUN, "repository": "acme/<b>", "state": "running"}
    kinds = {int: 1, float: 1.0, str: "x", bool: False}
    return {
        column.name: named[column.name]
        if column.name in named
        else kinds.get(column.type.python_type, [])
        for column in table.columns
        if column.name in named or (not column.nullable and column.server_default is None)
    }


def _harmless(*_: str) -> None:
    """Every text may leave."""


def _store(client, html: str) -> None:
    with client.engine.begin() as conn:
        conn.execute(
            item.insert().values(
                run_id=RUN,
                stage="publish",
                name="page",
                installation_id=1,
                status="finished",
                attempts=1,
                output={"html": html},
                started_at=time.time(),
            )
        )


@pytest.mark.parametrize(
    ("run_id", "token"),
    [
        (RUN, "0" * 64),
        (RUN, run_token(SECRET, "r-other")),
        (RUN, run_token("another secret of sixteen", RUN)),
        (RUN, "é"),
        ("r-none", run_token(SECRET, "r-none")),
    ],
)
def test_strangers_learn_nothing(client, run_id: str, token: str) -> None:
    """A wrong token and a run that is not there have the same answer."""
    answer = client.get(f"/runs/{run_id}/{token}")
    assert (answer.status_code, answer.text) == (404, "There is no such page.")


def test_a_run_at_work_has_a_page(client) -> None:
    """Its state, and names as text."""
    page = client.get(f"/runs/{RUN}/{run_token(SECRET, RUN)}")
    assert page.status_code == 200
    assert "acme/&lt;b&gt;#1" in page.text
    assert "running" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"


def test_a_decided_run_shows_all_of_it(client, facts, usage) -> None:
    """Picture, every candidate, evidence and cost of each stage."""
    costs = {"code": Usage(3, 900, 450, 40, 0.21)}
    scripted = replace(facts, scripted_model=True)
    _store(client, run_page(scripted, make(), Spent(usage, 60.0, costs, PATH), _harmless))
    page = client.get(f"/runs/{RUN}/{run_token(SECRET, RUN)}").text
    shown = ("<svg ", "Verified here", "Candidates", "Why the others lost", "$0.21", PATH)
    for part in (*shown, "Scripted model:", "Run record"):
        assert part in page
    for name in ("G1", "L1.1", "S1", "G2", "L2.1"):
        assert f">{name}<" in page


def test_what_a_model_writes_stays_text(facts, usage) -> None:
    """No element, link or image comes from it."""
    body = run_page(facts, make(EVIL), Spent(usage, 60.0, {}), _harmless)
    for tag in ("<img", "<a ", "<script", "<!--"):
        assert tag not in body


def test_without_a_public_address_there_is_no_link() -> None:
    """Nor without a secret to sign with."""
    assert run_url(Settings(webhook_secret=SECRET), RUN) == ""
    assert run_url(Settings(public_url="https://prism.example"), RUN) == ""
    told = run_url(Settings(webhook_secret=SECRET, public_url="https://prism.example"), RUN)
    assert told == f"https://prism.example/runs/{RUN}/{run_token(SECRET, RUN)}"
