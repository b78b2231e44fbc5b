"""Carry bytes between a port of a set-up container and the proxy's socket; nothing else.

Runs in a container of its own, given to its Python as text: standard library only, any 3.x.
Ends when the socket cannot be reached, so that the start of a set-up sees it.
"""

import asyncio
import sys

BLOCK = 262_144


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until the end, then pass the end on."""
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def main(path: str, port: int) -> None:
    """Listen, tell the proxy by one connection that it is reached, serve."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner, outer = await asyncio.open_unix_connection(path, limit=BLOCK)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, outer), carry(inner, writer))
        outer.close()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", port, limit=BLOCK, backlog=256)
    _, hello = await asyncio.open_unix_connection(path)
    hello.close()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
