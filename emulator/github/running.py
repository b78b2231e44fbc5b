"""Serve the emulated GitHub on a free loopback port, in a thread, for as long as a test lasts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from emulator.github.hub import GitHub
from emulator.github.server import create_app
from emulator.serving import listen, start, url_of


@asynccontextmanager
async def running(github: GitHub) -> AsyncIterator[GitHub]:
    """Serve until the block ends; `github.url` is set to the address.

    The server has an event loop and a thread of its own, so blocking clients in the test's
    loop (git, a synchronous HTTP client) do not stop it. Leaving closes `github`.
    """
    with listen() as listener:
        github.url = url_of(listener)
        stop = start(create_app(github), listener)
        try:
            yield github
        finally:
            await asyncio.to_thread(stop)
            await asyncio.to_thread(github.close)
