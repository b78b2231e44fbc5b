"""Logs: one line each, allowed fields only."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from app.logs import configure_logs
from app.settings import Settings


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    """Leave logging as it was for other tests."""
    root, app = logging.getLogger(), logging.getLogger("app")
    before = (list(root.handlers), root.level, app.level)
    yield
    root.handlers[:], level, app_level = before
    root.setLevel(level)
    app.setLevel(app_level)
    structlog.reset_defaults()


def test_a_line_is_json_with_what_was_bound(capsys: pytest.CaptureFixture[str]) -> None:
    """Message, time, level, and the ids of what it is about."""
    configure_logs(Settings())
    with structlog.contextvars.bound_contextvars(run_id="r-1"):
        structlog.get_logger("app.jobs").info("run claimed", epoch=2)
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["run_id"], line["epoch"]) == ("run claimed", "r-1", 2)
    assert (line["level"], line["logger"]) == ("info", "app.jobs")


def test_fields_that_are_not_allowed_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """Bodies and secrets stay out even when somebody passes them."""
    configure_logs(Settings())
    log = structlog.get_logger("app.x")
    log.info("x", body="the-text", token="the-token", outcome="y" * 900 + "end")
    text = capsys.readouterr().err
    assert "the-text" not in text
    assert "the-token" not in text
    outcome = json.loads(text)["outcome"]
    assert len(outcome) == 503
    assert outcome.endswith("end")


def test_an_exception_is_shown_without_values(capsys: pytest.CaptureFixture[str]) -> None:
    """Where and what; the message is cut."""
    configure_logs(Settings())
    secret = "value-of-a-variable"
    try:
        raise ValueError("x" * 900 + secret)
    except ValueError:
        structlog.get_logger("app.x").exception("it failed")
    line = json.loads(capsys.readouterr().err)
    assert "test_logs.py" in line["exception"]
    assert "ValueError: xxx" in line["exception"]
    assert secret not in line["exception"]


def test_other_libraries_only_warn(capsys: pytest.CaptureFixture[str]) -> None:
    """Their lines have the same form; what they say in passing is left out."""
    configure_logs(Settings(log_level="debug"))
    logging.getLogger("arq.worker").info("chatter")
    logging.getLogger("arq.worker").warning("job %s expired", "j-1")
    structlog.get_logger("app.x").debug("ours")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["job j-1 expired", "ours"]


def test_people_can_have_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    """LOG_FORMAT=pretty."""
    configure_logs(Settings(log_format="pretty"))
    structlog.get_logger("app.x").info("hello", run_id="r-1", body="the-text")
    text = capsys.readouterr().err
    assert "hello" in text
    assert "r-1" in text
    assert "the-text" not in text
