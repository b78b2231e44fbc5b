"""Run an emulator's app with uvicorn: in this process until it is ended, or in a thread."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

HOST = "127.0.0.1"


def listen(port: int = 0, host: str = HOST) -> socket.socket:
    """A listening socket: connections wait in it until a server runs; 0 takes a free port."""
    # asyncio turns Nagle's delay off only where the protocol is named: 40 ms for each answer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(128)
    return listener


def url_of(listener: socket.socket) -> str:
    """Where a listening socket is reached, without a slash at the end."""
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


def tell(ready: Path, text: str) -> None:
    """Write the file that says that connections are taken; who waits for it reads it whole."""
    partial = ready.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(ready)


def serve(app: Any, listener: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    _server(app).run([listener])


def start(app: Any, listener: socket.socket) -> Callable[[], None]:
    """Serve in a thread with an event loop of its own; call the result to stop, which blocks."""
    server = _server(app)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(timeout=10)

    return stop


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve in a thread for the length of the context; gives the base URL, without a slash."""
    with listen() as listener:
        stop = start(app, listener)
        try:
            yield url_of(listener)
        finally:
            stop()


def _server(app: Any) -> uvicorn.Server:
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="off")
    return uvicorn.Server(config)
