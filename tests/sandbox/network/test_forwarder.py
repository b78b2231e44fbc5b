"""The forwarder by itself, in each language it is written in."""

import asyncio
import hashlib
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox.network.sidecar import FORWARDERS

PYTHON, PERL = (path.read_text() for path in FORWARDERS)
STARTS = {
    "python": (sys.executable, "-I", "-c", PYTHON),
    "perl": ("perl", "-e", PERL),
}


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def started(
    language: str, path: Path, port: int
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A running forwarder."""
    process = await asyncio.create_subprocess_exec(*STARTS[language], str(path), str(port))
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


@pytest.mark.parametrize("language", STARTS)
async def test_carries_both_ways(language: str, tmp_path: Path) -> None:
    """Bytes arrive as they were on many connections at once, and an end is passed on."""
    hello = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello.set()
        data = await reader.read()  # to the end the client made
        writer.write(data[::-1])
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "s")
    port = free_port()
    async with started(language, tmp_path / "s", port):
        async with asyncio.timeout(20):
            await hello.wait()

            async def ask(number: int) -> None:
                content = hashlib.shake_128(bytes([number])).digest(300_000)
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(content)
                writer.write_eof()
                assert await reader.read() == content[::-1]
                writer.close()

            await asyncio.gather(*(ask(number) for number in range(20)))
    server.close()


@pytest.mark.parametrize("language", STARTS)
async def test_ends_without_a_proxy(language: str, tmp_path: Path) -> None:
    """A socket that cannot be reached ends it, so that the start of a set-up sees it."""
    async with started(language, tmp_path / "none", free_port()) as process, asyncio.timeout(20):
        assert await process.wait() not in (0, 127)
