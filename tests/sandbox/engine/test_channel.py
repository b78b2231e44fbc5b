"""Quick commands over one long process: the same answers as ever, and no belief in what it says."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from sandbox.base import Command, Workspace
from sandbox.engine.channel import Channel, QuickRunner
from sandbox.errors import FileNotFound, WorkspaceLost
from sandbox.runner import Script

OK = Script("echo", quick=True, timeout_s=5)
Speak = Callable[[str], bytes]


def variables(script: Script, mark: str) -> dict[str, str]:
    """What a script finds in its environment: here, only its mark."""
    return {"PRISM_COMMAND": mark}


def framed(data: bytes, kind: int = 1) -> bytes:
    """Bytes as the engine sends what a process wrote."""
    return bytes([kind, 0, 0, 0]) + struct.pack(">I", len(data)) + data


def answer(name: str, body: bytes = b"", **changed: object) -> bytes:
    """A reply of the server to the request `name`, with some of its head changed."""
    said = {"id": name, "code": 0, "over": False, "out": len(body), "err": 0, **changed}
    raw = json.dumps(said).encode()
    return struct.pack(">I", len(raw)) + raw + body


class Server:
    """The other end of a channel; `speak` makes the bytes it sends for a request's name."""

    def __init__(self, speak: Speak) -> None:
        self.speak = speak
        self.opened = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def attach(self, argv: object) -> tuple[socket.socket, bytes]:
        self.opened += 1
        here, there = socket.socketpair()
        here.setblocking(False)
        there.setblocking(False)
        self._tasks.append(asyncio.create_task(self._serve(there)))
        return here, b""

    async def _serve(self, there: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        with there:
            while data := await loop.sock_recv(there, 65536):
                head, _ = struct.unpack(">II", data[:8])
                await loop.sock_sendall(there, self.speak(json.loads(data[8 : 8 + head])["id"]))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A server that answers well."""
    made = Server(lambda name: framed(answer(name, b"hello")))
    yield made
    await made.close()


async def test_one_connection_serves_many(server: Server) -> None:
    """Answers come whole however they are cut into frames; errors of the server are nothing."""
    channel = Channel(server.attach, variables)
    for _ in range(3):
        outcome = await channel.run(OK, "m")
        assert outcome is not None
        assert (outcome.exit_code, outcome.stdout) == (0, b"hello")
    server.speak = lambda name: (
        framed(b"to errors", kind=2)
        + b"".join(framed(bytes([byte])) for byte in answer(name, b"x" * 999))
    )
    outcome = await channel.run(OK, "m")
    assert outcome is not None
    assert outcome.stdout == b"x" * 999
    channel.close()
    assert server.opened == 1


@pytest.mark.parametrize(
    "speak",
    [
        lambda _: framed(b"\xff\xff\xff\xff"),
        lambda _: framed(b"\x00\x00\x10\x00" + b"x" * 4096),
        lambda _: framed(b"\x00\x00\x00\x02[]"),
        lambda _: framed(b"\x00\x00\x0b\xb8" + b"[" * 3000),
        lambda _: framed(answer("another", b"hello")),
        lambda name: framed(answer(name, code=True)),
        lambda name: framed(answer(name, code=-1)),
        lambda name: framed(answer(name, code=None)),
        lambda name: framed(answer(name, out=-1)),
        lambda name: framed(answer(name, out=10**9)),
        lambda name: framed(answer(name, err="0")),
        lambda name: framed(answer(name, over=0)),
        lambda name: framed(answer(name, b"hello") + b"more"),
        lambda name: framed(answer(name, b"hello")) + framed(answer(name, b"hello")),
    ],
)
async def test_garbage_is_never_an_answer(server: Server, speak: Speak) -> None:
    """Tried once more over a new connection, then left to the ordinary way; after three, always."""
    server.speak = speak
    channel = Channel(server.attach, variables)
    for _ in range(3):
        assert await channel.run(OK, "m") is None
    assert server.opened == 6
    server.speak = lambda name: framed(answer(name))
    assert await channel.run(OK, "m") is None
    assert server.opened == 6


async def test_words_nobody_asked_for_end_the_connection(server: Server) -> None:
    """What came between two commands cannot be taken for the answer to the second."""
    channel = Channel(server.attach, variables)
    assert await channel.run(OK, "m")
    link = channel._link
    assert link is not None
    link._raw += framed(b"early")
    assert await channel.run(OK, "m")
    assert server.opened == 2
    channel.close()


async def test_silence_is_a_time_limit(server: Server) -> None:
    """The time is measured here, whatever the other side says; the next command tries again."""
    channel = Channel(server.attach, variables)
    server.speak = lambda _: framed(b"\x00")
    outcome = await channel.run(replace(OK, timeout_s=0.2), "m")
    assert outcome is not None
    assert (outcome.timed_out, outcome.exit_code) == (True, None)
    server.speak = lambda name: framed(answer(name))
    assert await channel.run(OK, "m")
    channel.close()


async def test_without_a_server_there_is_the_ordinary_way() -> None:
    """An image without Python, or a container that is going, costs three attempts and no answer."""
    opened = 0

    async def attach(argv: object) -> tuple[socket.socket, bytes]:
        nonlocal opened
        opened += 1
        raise WorkspaceLost("gone")

    channel = Channel(attach, variables)
    assert [await channel.run(OK, "m") for _ in range(5)] == [None] * 5
    assert opened == 6


SPEAK_FOR_IT = """
for p in /proc/[0-9]*; do
  grep -qz selectors $p/cmdline 2>/dev/null && [ $p != /proc/$$ ] && echo garbage > $p/fd/1
done 2>/dev/null; true
"""
COUNT = "ps -u 10001 -o args= | grep -c '[s]elect\\|[s]leep 54321'; true"


@pytest.mark.engine
async def test_quick_commands_in_a_container(workspace: Workspace) -> None:
    """The same answers as the ordinary way: codes, both streams, input, variables, cuts, limits."""
    runner = workspace._runner
    assert isinstance(runner, QuickRunner)
    for merged in (True, False):
        shown = '"$1 $PWD $(env | grep -vE "PRISM_|HOSTNAME" | sort)"'
        line = f"cat; echo {shown}; echo err >&2; exit 3"
        task = Script(line, args=("ä b",), stdin=b"in\n" * 9, merged=merged)
        slow, quick = await runner.run(task), await runner.run(replace(task, quick=True))
        assert replace(quick, duration_s=0.0) == replace(slow, duration_s=0.0)
        own = replace(task, env={"A": "1"}, project=True)
        slow, quick = await runner.run(own), await runner.run(replace(own, quick=True))
        assert replace(quick, duration_s=0.0) == replace(slow, duration_s=0.0)
        assert "A=1\n" in quick.text
    for line in ("exit 137", "exit 255", "not-a-program", "cat /nothing"):
        plain = await workspace.exec(Command(line))
        fast = await workspace.exec(Command(line, quick=True))
        assert (plain.exit_code, plain.output) == (fast.exit_code, fast.output)
    cut = await workspace.exec(Command("seq 100000", output_limit=100, quick=True))
    assert (cut.truncated, cut.output[:4], cut.output[-7:]) == (True, "1\n2\n", "100000\n")
    text = "é" * 300_000
    await workspace.write("large.txt", text)
    assert await workspace.read("large.txt") == text
    late = await workspace.exec(Command("sleep 54321 & sleep 54321", timeout_s=0.5, quick=True))
    assert (late.timed_out, late.exit_code) == (True, None)
    assert (await workspace.exec(Command(COUNT))).output == "0\n"


@pytest.mark.engine
async def test_code_cannot_speak_for_the_channel(workspace: Workspace) -> None:
    """Forged, ended or stopped, the server changes no text that is read and no verdict."""
    await workspace.write("notes.txt", "one")
    for attack in (
        SPEAK_FOR_IT,
        "pkill -9 python3; true",
        "kill -9 -1",
        "pkill -f selectors; true",
    ):
        await workspace.exec(Command(attack))
        assert await workspace.read("notes.txt") == "one"
    replace_it = (
        "cd /opt/venv/bin; rm python3; printf '#!/bin/sh\\necho' > python3; chmod 755 python3"
    )
    assert (await workspace.exec(Command(f"{replace_it}; kill -9 -1"))).exit_code != 0
    with pytest.raises(FileNotFound):
        await workspace.read("nothing")
    assert await workspace.read("notes.txt") == "one"
    assert "notes.txt" in await workspace.diff()
    assert (await workspace.exec(Command(COUNT))).output == "0\n"


@pytest.mark.engine
async def test_verdicts_never_come_from_the_channel(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests, snapshots, forks and patches work with a channel that must not be used."""

    async def forbidden(*args: object) -> None:
        raise AssertionError("the channel was used")

    await workspace.write("notes.txt", "one")
    monkeypatch.setattr(Channel, "run", forbidden)
    snapshot = await workspace.snapshot()
    patch = await workspace.diff()
    assert "notes.txt" in patch
    await workspace.exec(Command("rm notes.txt"))
    assert (await workspace.apply(patch)).ok
    assert sorted((await workspace.test()).results.values()) == ["fail", "pass"]
    await workspace.restore(snapshot)
    async with workspace.fork(snapshot) as child:
        assert await child.diff() == patch
