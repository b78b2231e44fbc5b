"""Structured logs: allow-listed fields on one line each, no bodies, no prompts, no secrets."""

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import structlog

from app.settings import Settings

FIELDS = frozenset(
    {
        # added by the processors below
        "event", "level", "timestamp", "logger", "exception",
        # what it is about
        "delivery_id", "run_id", "installation_id", "repository", "repository_id", "issue_number",
        # what happened
        "action", "address", "attempt", "cost_usd", "count", "duration_s", "epoch", "error",
        "github_event", "item", "outcome", "pid", "port", "signal", "stage", "state", "status",
        "worker",
    }
)  # fmt: skip
MAX_TEXT = 500  # characters of one field; messages of errors may quote what others wrote
_FOREIGN_LEVEL = logging.WARNING  # uvicorn, arq, SQLAlchemy, Docker, …


def configure_logs(settings: Settings) -> None:
    """Send our log lines and other libraries' warnings to stderr, as JSON or coloured text."""
    renderer: Any = structlog.processors.JSONRenderer(ensure_ascii=False)
    if settings.log_format == "pretty":
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _describe_exception,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                keep_allowed_fields,
                renderer,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(_FOREIGN_LEVEL)
    logging.getLogger("app").setLevel(settings.log_level.upper())


def keep_allowed_fields(
    _logger: Any, _method: str, fields: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Drop every field that is not in FIELDS and cut the middle out of long texts."""
    kept = {name: value for name, value in fields.items() if name in FIELDS}
    for name, value in kept.items():
        if isinstance(value, str) and len(value) > MAX_TEXT and name != "exception":
            kept[name] = f"{value[: MAX_TEXT // 2]} … {value[-MAX_TEXT // 2 :]}"
    return kept


def _describe_exception(
    _logger: Any, _method: str, fields: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Where it happened, the type and the start of the message; never values of variables."""
    info = fields.pop("exc_info", None)
    if info is True:
        info = sys.exc_info()
    error = info[1] if isinstance(info, tuple) else info
    if isinstance(error, BaseException):
        frames = traceback.format_tb(error.__traceback__)[-8:]
        fields["exception"] = f"{''.join(frames)}{type(error).__name__}: {str(error)[:MAX_TEXT]}"
    return fields
