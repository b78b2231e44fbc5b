"""Run small commands over one long process in the container instead of a new one each time.

The process at the other end has the user of the repository's code, which may end it or speak in
its place: nothing it says is more than what a command of that code could have printed. So no
verdict, snapshot or patch goes this way; an answer that is not well-formed ends the channel, and
the command is asked again over a new one, then in the ordinary way.
"""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from typing import Any

from sandbox.errors import SandboxError
from sandbox.runner import Layout, Outcome, Runner, Script
from sandbox.scripts import END_PROCESSES

OUTPUT_LIMIT = 2_000_000
STDIN_LIMIT = 2_000_000
_HEAD_LIMIT = 4096
_GIVE_UP = 3  # commands that had to take the ordinary way although the channel was tried

# Answers one request after the other; ends with its connection, and then what it runs too. A
# command that says more than its limit is ended and left to the ordinary way, which cuts.
_SERVER = r"""
import json, os, selectors, signal, struct, subprocess, tempfile
def take(count):
    data = bytearray()
    while len(data) < count:
        part = os.read(0, min(65536, count - len(data)))
        if not part:
            os._exit(0)
        data += part
    return bytes(data)
def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
def run(ask, given):
    with tempfile.TemporaryFile() if given else open(os.devnull, "rb") as stdin:
        if given:
            stdin.write(given)
            stdin.seek(0)
        process = subprocess.Popen(
            ["/bin/bash", "-c", ask["text"], "prism", *ask["args"]], stdin=stdin,
            stdout=subprocess.PIPE, env=ask["env"], start_new_session=True,
            stderr=subprocess.STDOUT if ask["merged"] else subprocess.PIPE)
    kept, sources = {}, selectors.DefaultSelector()
    sources.register(0, selectors.EVENT_READ)
    for stream in filter(None, (process.stdout, process.stderr)):
        sources.register(stream, selectors.EVENT_READ)
        kept[stream] = bytearray()
    left = ask["limit"]
    while len(sources.get_map()) > 1 and left >= 0:
        for key, _ in sources.select():
            if key.fileobj == 0:
                end(process)
                os._exit(0)
            part = os.read(key.fd, 65536)
            left -= len(part)
            kept[key.fileobj] += part
            if not part:
                sources.unregister(key.fileobj)
    if left < 0:
        end(process)
    code = process.wait()
    end(process)
    for stream in kept:
        stream.close()
    sources.close()
    out, err = kept[process.stdout], kept.get(process.stderr, b"")
    return code if code >= 0 else 128 - code, left < 0, out, err
while True:
    head, body = struct.unpack(">II", take(8))
    ask = json.loads(take(head))
    code, over, out, err = run(ask, take(body))
    if over:
        out = err = b""
    said = {"id": ask["id"], "code": code, "over": over, "out": len(out), "err": len(err)}
    raw = json.dumps(said).encode()
    data = memoryview(struct.pack(">I", len(raw)) + raw + out + err)
    while data:
        data = data[os.write(1, data):]
"""

_ARGV = ("python3", "-I", "-S", "-u", "-c", _SERVER)
Attach = Callable[[Sequence[str]], Awaitable[tuple[socket.socket, bytes]]]
Variables = Callable[[Script, str], Mapping[str, str]]


class _Garbled(Exception):
    """What arrived is no answer to what was asked."""


class Channel:
    """One connection to a server in one container, opened when it is first needed.

    `attach` starts a process there and gives its connection, whose output comes in the engine's
    frames, and what was read of it already. `variables` gives all that a script with a mark finds
    in its environment.
    """

    def __init__(self, attach: Attach, variables: Variables) -> None:
        self._attach = attach
        self._variables = variables
        self._lock = asyncio.Lock()
        self._link: _Link | None = None
        self._failures = 0

    async def run(self, script: Script, mark: str) -> Outcome | None:
        """The outcome, or None when the command has to be run in the ordinary way.

        A command that is cut short by its time limit or cancelled may be running on; `mark` is
        in its environment as PRISM_COMMAND.
        """
        start = time.monotonic()
        async with self._lock:
            if self._failures >= _GIVE_UP:
                return None
            try:
                async with asyncio.timeout(script.timeout_s):
                    outcome = await self._twice(script, mark)
            except TimeoutError:
                self.close()
                outcome = Outcome(None, b"", b"", 0.0, timed_out=True)
            except BaseException:
                self.close()
                raise
        return outcome and replace(outcome, duration_s=time.monotonic() - start)

    def close(self) -> None:
        """End the connection, and with it the server; the next command opens another."""
        if self._link is not None:
            self._link.close()
            self._link = None

    async def _twice(self, script: Script, mark: str) -> Outcome | None:
        for _ in range(2):
            try:
                if self._link is None or self._link.ended():
                    self.close()
                    self._link = _Link(*await self._attach(_ARGV))
                answer = await self._link.ask(script, self._variables(script, mark))
            except (OSError, SandboxError, _Garbled):
                self.close()
                continue
            self._failures = 0
            return answer
        self._failures += 1
        return None


class _Link:
    """Frames over one connection; everything that arrives is checked before it is used."""

    def __init__(self, connection: socket.socket, early: bytes) -> None:
        self._connection = connection
        self._raw = bytearray(early)
        self._said = bytearray()

    def close(self) -> None:
        self._connection.close()

    def ended(self) -> bool:
        """Whether the other side has gone, or said something that nobody asked for."""
        try:
            self._raw += self._connection.recv(65536)
        except BlockingIOError:
            return bool(self._raw or self._said)
        except OSError:
            return True
        return True

    async def ask(self, script: Script, env: Mapping[str, str]) -> Outcome | None:
        """One request and its answer; None when the output is over the limit."""
        assert isinstance(script.stdin, bytes)
        name = token_hex(8)
        limit = min(script.output_limit, OUTPUT_LIMIT)
        head = json.dumps(
            {
                "id": name,
                "text": script.text,
                "args": [*script.args],
                "env": dict(env),
                "merged": script.merged,
                "limit": limit,
            }
        ).encode()
        frame = struct.pack(">II", len(head), len(script.stdin)) + head + script.stdin
        await asyncio.get_running_loop().sock_sendall(self._connection, frame)
        (size,) = struct.unpack(">I", await self._take(4))
        if size > _HEAD_LIMIT:
            raise _Garbled
        said = _checked(await self._take(size), name, limit)
        out, err = await self._take(said["out"]), await self._take(said["err"])
        if self._said or self._raw:
            raise _Garbled
        return None if said["over"] else Outcome(said["code"], out, err, 0.0)

    async def _take(self, count: int) -> bytes:
        loop = asyncio.get_running_loop()
        while len(self._said) < count:
            data = await loop.sock_recv(self._connection, 65536)
            if not data:
                raise _Garbled
            self._raw += data
            self._unpack()
        taken = bytes(self._said[:count])
        del self._said[:count]
        return taken

    def _unpack(self) -> None:
        """Take the engine's frames apart; what the server writes to its errors is nothing."""
        while len(self._raw) >= 8:
            kind, size = self._raw[0], int.from_bytes(self._raw[4:8], "big")
            if len(self._raw) < 8 + size:
                return
            if kind == 1:
                self._said += self._raw[8 : 8 + size]
            del self._raw[: 8 + size]


def _checked(raw: bytes, name: str, limit: int) -> dict[str, Any]:
    """The head of an answer to the request `name`; raises _Garbled for anything else."""
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _Garbled from error
    numbers = {"code": 255, "out": limit, "err": limit}
    if not isinstance(said, dict) or said.get("id") != name or type(said.get("over")) is not bool:
        raise _Garbled
    for key, most in numbers.items():
        if type(said.get(key)) is not int or not 0 <= said[key] <= most:
            raise _Garbled
    return said


class QuickRunner:
    """Implements `sandbox.runner.Runner`: quick scripts by a channel, all others by `runner`."""

    def __init__(self, runner: Runner, attach: Attach, variables: Variables) -> None:
        self._runner = runner
        self._channel = Channel(attach, variables)

    @property
    def layout(self) -> Layout:
        """Where things are."""
        return self._runner.layout

    async def run(self, script: Script) -> Outcome:
        """Run a script; when it is cut or cancelled everything it started is ended first."""
        outcome = await self._quick(script) if _is_small(script) else None
        return outcome or await self._runner.run(script)

    async def end_processes(self) -> None:
        """End every process that repository code left behind, and the channel's."""
        self._channel.close()
        await self._runner.end_processes()

    async def memory_kills(self) -> int:
        """How often the kernel ended a process of this workspace for its memory, so far."""
        return await self._runner.memory_kills()

    def close(self) -> None:
        """End the channel."""
        self._channel.close()

    async def _quick(self, script: Script) -> Outcome | None:
        mark, complete = token_hex(8), False
        try:
            outcome = await self._channel.run(script, mark)
            complete = outcome is None or not outcome.timed_out
            return outcome
        finally:
            if not complete:
                with suppress(SandboxError):  # a container that is gone has no processes
                    await self._runner.run(Script(END_PROCESSES, args=(mark,), timeout_s=10))


def _is_small(script: Script) -> bool:
    return (
        script.quick
        and script.actor == "sandbox"
        and isinstance(script.stdin, bytes)
        and len(script.stdin) <= STDIN_LIMIT
    )
