"""Run an emulator's app with uvicorn: in this process until it is ended, or in a thread."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

HOST = "127.0.0.1"


def serve(app: Any, port: int = 0, ready: Path | None = None) -> None:
    """Serve on loopback until SIGTERM or Ctrl-C; port 0 takes a free one.

    `ready` is written with the base URL once connections are accepted.
    """
    with _listening(port) as (listener, url):
        server = _server(app)
        if ready is not None:
            waiting = threading.Thread(target=_tell, args=(server, ready, url), daemon=True)
            waiting.start()
        server.run(sockets=[listener])


@contextmanager
def serving(app: Any, port: int = 0) -> Iterator[str]:
    """Serve in a thread for the length of the context; gives the base URL, without a slash."""
    with _listening(port) as (listener, url):
        server = _server(app)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        _wait(server)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def _server(app: Any) -> uvicorn.Server:
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="off")
    return uvicorn.Server(config)


@contextmanager
def _listening(port: int) -> Iterator[tuple[socket.socket, str]]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        # asyncio turns Nagle off only where the protocol is named: else 40 ms for each answer.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        yield listener, f"http://{HOST}:{listener.getsockname()[1]}"


def _wait(server: uvicorn.Server, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not server.started:
        if time.monotonic() > end:
            raise RuntimeError("The emulator did not start.")
        time.sleep(0.005)


def _tell(server: uvicorn.Server, ready: Path, url: str) -> None:
    _wait(server, 60.0)
    # Renamed into place: who waits for the file never reads half of it.
    partial = ready.with_suffix(".partial")
    partial.write_text(url, encoding="utf-8")
    partial.replace(ready)
