"""Around every command's work: errors in plain words, and a polite end."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from app.messages.characters import without_invisible
from app.settings import SettingsError

LOG_LINES = 40
LOG_SHOWN = 6000  # characters


@contextmanager
def plain_errors() -> Iterator[None]:
    """Expected failures are one sentence and exit code 2, not a traceback.

    A set-up line that failed shows the end of its output first: only that tells why.
    """
    try:
        yield
    except _expected() as error:
        log = getattr(error, "log", "")
        if log:
            click.echo(f"The end of the set-up's output:\n{_log_end(log)}\n", err=True)
        click.echo(f"Error: {error}", err=True)
        for step in _advice(error):
            click.echo(f"- {step}", err=True)
        sys.exit(2)


def _advice(error: Exception) -> tuple[str, ...]:
    """What people can do about a set-up that failed; nothing for other errors."""
    denied = getattr(error, "denied", None)
    if denied is None:
        return ()
    from app.failures import advice  # noqa: PLC0415 - loads the pipeline

    return advice(denied)


def _log_end(log: str) -> str:
    """The last lines, without what could command the terminal: repository code wrote them."""
    return "\n".join(without_invisible(log)[0].strip()[-LOG_SHOWN:].splitlines()[-LOG_LINES:])


@contextmanager
def term_as_interrupt() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does: children and containers are cleared away first."""

    def interrupt(_number: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)  # asyncio's while its loop runs
        if not callable(handler):  # in the background of a shell Ctrl-C is ignored
            handler = signal.default_int_handler
        handler(signal.SIGINT, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _expected() -> tuple[type[Exception], ...]:
    """What people can do something about; of the packages' errors those that are loaded."""
    bases = (
        ("pipeline.errors", "PipelineError"),
        ("sandbox.errors", "SandboxError"),
        ("app.github.errors", "GitHubError"),
        ("app.jobs.embedded", "EmbeddedRedisFailed"),
    )
    loaded = (getattr(sys.modules[name], base) for name, base in bases if name in sys.modules)
    return (SettingsError, ConnectionError, *loaded)
