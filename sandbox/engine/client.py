"""Docker Engine through its SDK: the only module that imports it.

Blocking calls run in a bounded thread pool; output of commands is streamed over the raw
connection, because the SDK's own way buffers without bound and has no time limit.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from docker import DockerClient
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.types import LogConfig, Ulimit

from sandbox.errors import EngineUnavailable, SandboxError, WorkspaceLost
from sandbox.output import CappedOutput
from sandbox.runner import FLOOD_BYTES, Outcome, Stdin, chunks

T = TypeVar("T")

# How long output is still read after a command ended while a child of it holds the stream.
GRACE_S = 0.2

HELP = (
    "No container engine answers. Start Docker or set DOCKER_HOST; as root on Debian "
    "deploy/setup/engine.sh installs and starts one."
)
FORBIDDEN = (
    "This user may not use the container engine. Add it to the group `docker` (which makes it as "
    "powerful as root on this machine), or set DOCKER_HOST to an engine of its own."
)
__all__ = [
    "HELP",
    "APIError",
    "ContainerEnded",
    "DockerClient",
    "Engine",
    "Exec",
    "ExecRefused",
    "ImageNotFound",
    "LogConfig",
    "NotFound",
    "Ulimit",
]


@dataclass(frozen=True, slots=True)
class Exec:
    """One process in a running container.

    `user` is numeric; `env` is what it gets beside the image's variables, None takes one away.
    """

    argv: Sequence[str]
    user: str
    env: Mapping[str, str | None]
    workdir: str
    stdin: Stdin = b""
    timeout_s: float = 60.0
    output_limit: int = 1_000_000
    merged: bool = False


class ExecRefused(SandboxError):
    """The container runs and could not start this process, e.g. for want of memory."""


class ContainerEnded(WorkspaceLost):
    """The container went away under a command; `outcome` has what it wrote until then."""

    def __init__(self, message: str, outcome: Outcome) -> None:
        super().__init__(message)
        self.outcome = outcome


class Engine:
    """A connection to the engine that `DOCKER_HOST` names (a unix or plain TCP address)."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(16, thread_name_prefix="engine")
        self._client: DockerClient | None = None

    async def call(self, work: Callable[[DockerClient], T]) -> T:
        """Run `work(client)` in a thread and wait for its end even when cancelled.

        A thread cannot be stopped: waiting is what keeps a container that is being created
        from outliving its owner. Raises EngineUnavailable when nothing answers; NotFound and
        APIError pass through.
        """
        future = asyncio.get_running_loop().run_in_executor(self._pool, self._work, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            if not future.cancelled():
                future.exception()  # looked at, so that it is not reported as lost
            raise

    async def exec(self, container: str, command: Exec) -> Outcome:
        """Run a process and stream its output within limits; ending it is the caller's part.

        At the time limit, on a flood and on cancellation the connection is closed, which does
        not end the process. What it left running does not delay the end. Raises WorkspaceLost
        when the container is gone, ExecRefused when it cannot start a process just now.
        """
        start = time.monotonic()
        streams = _Streams(command)
        timed_out = False
        try:
            exec_id, connection, early = await self.call(lambda c: _open(c, container, command))
            try:
                async with asyncio.timeout(command.timeout_s):
                    await self._until_end(exec_id, connection, early, command.stdin, streams)
            except TimeoutError:
                timed_out = True
            finally:
                connection.close()
            exit_code = None
            if not timed_out and not streams.flooded:
                exit_code = await self.call(lambda c: _exit_code(c, exec_id))
                # Such a code may be the command's own, or the end of the whole container.
                if exit_code is None or exit_code >= 126:
                    await self.call(lambda c: _check_started(c, container, exec_id))
        except NotFound as error:
            raise WorkspaceLost("The container went away.") from error
        except APIError as error:
            await self._explain(container, error)
        except WorkspaceLost as error:
            outcome = streams.outcome(None, time.monotonic() - start, timed_out)
            raise ContainerEnded(str(error), outcome) from error
        return streams.outcome(exit_code, time.monotonic() - start, timed_out)

    async def _until_end(
        self,
        exec_id: str,
        connection: socket.socket,
        early: bytes,
        stdin: Stdin,
        streams: "_Streams",
    ) -> None:
        """Read until the stream ends, floods, or its process has ended for a short while."""
        talking = asyncio.create_task(_talk(connection, early, stdin, streams))
        watching = asyncio.create_task(self._process_end(exec_id))
        try:
            await asyncio.wait({talking, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not talking.done():
                await asyncio.wait({talking}, timeout=GRACE_S)
            if talking.done():
                await talking  # its errors are the caller's
        finally:
            for task in (talking, watching):
                task.cancel()
            await asyncio.gather(talking, watching, return_exceptions=True)

    async def _process_end(self, exec_id: str) -> None:
        """Wait for the process itself; most end their stream before they are first asked for."""
        pause = 0.3
        while True:
            await asyncio.sleep(pause)
            state = await self.call(lambda c: c.api.exec_inspect(exec_id))
            if not state["Running"]:
                return
            pause = min(pause * 1.5, 1.0)

    async def _explain(self, container: str, error: APIError) -> NoReturn:
        """A refusal of the engine: is it this process or the container?"""
        try:
            state = await self.call(lambda c: c.api.inspect_container(container)["State"])
        except NotFound:
            raise WorkspaceLost("The container went away.") from error
        if not state["Running"]:
            raise WorkspaceLost(
                f"The container ended and cannot run commands any more: {error}"
            ) from error
        raise ExecRefused(f"The container could not start a command: {error}") from error

    async def attach(self, container: str, command: Exec) -> tuple[socket.socket, bytes]:
        """Start a process and hand over its connection, with what was read of it already.

        Output comes in the engine's frames: kind, three zeros, length, data. The caller closes
        the connection, which ends the process's standard input. Raises as `exec` does.
        """
        try:
            _, connection, early = await self.call(lambda c: _open(c, container, command))
        except NotFound as error:
            raise WorkspaceLost("The container went away.") from error
        except APIError as error:
            await self._explain(container, error)
        return connection, early

    async def close(self) -> None:
        """Close connections and threads."""
        if self._client is not None:
            await self.call(lambda client: client.close())
        self._pool.shutdown(wait=False)

    def _work(self, work: Callable[[DockerClient], T]) -> T:
        try:
            _knock(os.environ.get("DOCKER_HOST", ""))
            if self._client is None:
                self._client = DockerClient.from_env(version="auto", timeout=600, max_pool_size=64)
            return work(self._client)
        except (APIError, SandboxError):
            raise
        except PermissionError as error:
            raise EngineUnavailable(FORBIDDEN) from error
        except (DockerException, OSError) as error:
            raise EngineUnavailable(f"{HELP} ({error})") from error


def _knock(host: str) -> None:
    """Fail early where nobody listens; the SDK would leave its socket open."""
    address = host or "unix:///var/run/docker.sock"
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(address.removeprefix("unix://"))


class _Streams:
    """What arrives on a connection, kept within limits."""

    def __init__(self, command: Exec) -> None:
        self._out = CappedOutput(command.output_limit)
        self._err = self._out if command.merged else CappedOutput(10_000)
        self.flooded = False

    def feed(self, kind: int, data: bytes) -> None:
        (self._err if kind == 2 else self._out).feed(data)
        self.flooded = self._out.total > FLOOD_BYTES

    def outcome(self, exit_code: int | None, duration_s: float, timed_out: bool) -> Outcome:
        return Outcome(
            exit_code=exit_code,
            stdout=self._out.value(),
            stderr=b"" if self._err is self._out else self._err.value(),
            duration_s=duration_s,
            timed_out=timed_out,
            flooded=self.flooded,
            truncated=self._out.dropped > 0,
        )


def _open(client: Any, container: str, command: Exec) -> tuple[str, socket.socket, bytes]:
    """Start the process; returns its id, its connection and what was read with the header."""
    created = client.api.exec_create(
        container,
        list(command.argv),
        stdin=True,
        user=command.user,
        environment=dict(command.env),
        workdir=command.workdir,
    )
    stream = client.api.exec_start(created["Id"], socket=True)
    response = stream._response  # the SDK offers no public way to its buffer
    try:
        if type(stream._sock) is not socket.socket:
            raise SandboxError("DOCKER_HOST must be a unix socket or a plain TCP address.")
        stream._sock.settimeout(0)
        connection = stream._sock.dup()
        # The header was read through a buffer that may have swallowed the first output.
        early = response.raw._fp.fp.peek()
    finally:
        response.close()
    return created["Id"], connection, bytes(early)


def _exit_code(client: Any, exec_id: str) -> int | None:
    """The exit code; the engine may need a moment after closing the stream."""
    pause_s = 0.001
    while pause_s < 1:
        state = client.api.exec_inspect(exec_id)
        if not state["Running"]:
            code = state["ExitCode"]
            return None if code is None else int(code)
        time.sleep(pause_s)
        pause_s *= 1.5
    return None


def _check_started(client: Any, container: str, exec_id: str) -> None:
    """Raise WorkspaceLost when the container ended, ExecRefused when no process was started."""
    state = client.api.exec_inspect(exec_id)
    if not state["Pid"]:
        raise ExecRefused("The container could not start a command.")
    # A killed container's processes may be reported as ended a moment before itself.
    for pause in (0.0, 0.1) if state["ExitCode"] in {None, 137} else (0.0,):
        time.sleep(pause)
        if not client.api.inspect_container(container)["State"]["Running"]:
            raise WorkspaceLost("The container was ended while a command ran in it.")


async def _talk(connection: socket.socket, early: bytes, stdin: Stdin, streams: _Streams) -> None:
    """Send `stdin`, then end it, while reading frames until the stream ends or floods."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    reader.feed_data(early)
    transport, protocol = await loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader), sock=connection
    )
    writer = asyncio.StreamWriter(transport, protocol, reader, loop)
    sending = asyncio.create_task(_send(writer, stdin))
    try:
        while not streams.flooded:
            header = await reader.readexactly(8)
            left = int.from_bytes(header[4:])
            while left and (data := await reader.read(min(left, 65536))):
                streams.feed(header[0], data)
                left -= len(data)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the end of the stream
    finally:
        sending.cancel()
        transport.abort()
        (failure,) = await asyncio.gather(sending, return_exceptions=True)
    if isinstance(failure, Exception):
        raise failure


async def _send(writer: asyncio.StreamWriter, stdin: Stdin) -> None:
    """Write everything and close the process's standard input."""
    try:
        async for chunk in chunks(stdin):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
    except ConnectionError:
        pass  # the process ended without reading; its exit code tells
