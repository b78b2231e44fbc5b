"""Serve the emulated GitHub on a free loopback port, in a thread, for as long as a test lasts."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from emulator.github.hub import GitHub
from emulator.github.server import create_app


def listen(port: int, host: str = "127.0.0.1") -> socket.socket:
    """A listening socket: connections wait in it until the server runs; 0 takes a free port."""
    # asyncio turns Nagle's delay off only where the protocol is named: 40 ms for each answer.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(128)
    return listener


@asynccontextmanager
async def running(github: GitHub) -> AsyncIterator[GitHub]:
    """Serve until the block ends; `github.url` is set to the address.

    The server has an event loop and a thread of its own, so blocking clients in the test's
    loop (git, a synchronous HTTP client) do not stop it. Leaving closes `github`.
    """
    listener = listen(0)
    github.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(github), log_level="warning", lifespan="off", timeout_graceful_shutdown=1
        )
    )
    thread = threading.Thread(
        target=server.run, args=([listener],), name="github-emulator", daemon=True
    )
    thread.start()
    try:
        yield github
    finally:
        server.should_exit = True
        await asyncio.to_thread(thread.join)
        listener.close()
        await asyncio.to_thread(github.close)
