"""Run scripts as plain processes of this user, and end what they started as far as possible."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from sandbox.errors import WorkspaceLost
from sandbox.output import CappedOutput
from sandbox.runner import FLOOD_BYTES, HARNESS, SHELL, SYSTEM_PATH, Layout, Outcome, Script, chunks

# How long output is still read after a command ended while a child of it holds the pipe.
_GRACE_S = 0.3


class ProcessRunner:
    """Implements `sandbox.runner.Runner` without any isolation; for trusted code only.

    Every process carries a mark in its environment by which it is found again after it left its
    process group; one that clears its environment as well gets away. `env` is for lines of the
    repository alone; on `path` scripts of the harness find their programs.
    """

    def __init__(self, layout: Layout, env: Mapping[str, str], path: str = SYSTEM_PATH) -> None:
        self._layout = layout
        self._env = env
        self._own = {name: value for name, value in HARNESS.items() if value is not None}
        self._own["PATH"] = path
        self._shell = shutil.which("bash", path=path) or SHELL
        self._mark = token_hex(8)

    @property
    def layout(self) -> Layout:
        """Where things are."""
        return self._layout

    async def run(self, script: Script) -> Outcome:
        """Run a script; when it is cut or cancelled everything it started is ended first."""
        start = time.monotonic()
        command = token_hex(8)
        process, pipes = await self._start(script, command)
        out = CappedOutput(script.output_limit)
        err = out if script.merged else CappedOutput(10_000)
        readers = [
            asyncio.create_task(_drain(reader, sink))
            for (reader, _), sink in zip(pipes, (out, err), strict=False)
        ]
        sender = asyncio.create_task(_feed(process, script))
        timed_out = complete = False
        try:
            async with asyncio.timeout(script.timeout_s):
                await _ended(process, readers)
            complete = out.total <= FLOOD_BYTES
        except TimeoutError:
            timed_out = True
        finally:
            if not complete:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await _end_marked("PRISM_COMMAND", command)
                await process.wait()
            for task in (*readers, sender):
                task.cancel()
            await asyncio.gather(*readers, sender, return_exceptions=True)
            for _, transport in pipes:
                transport.close()
            if process.stdin is not None:
                process.stdin.close()
        return Outcome(
            exit_code=_shell_code(process.returncode) if complete else None,
            stdout=out.value(),
            stderr=b"" if script.merged else err.value(),
            duration_s=time.monotonic() - start,
            timed_out=timed_out,
            flooded=out.total > FLOOD_BYTES,
            truncated=out.dropped > 0,
        )

    async def as_root(self, script: Script) -> Outcome:
        """The same user: nothing is protected from the code here, which is why it is trusted."""
        return await self.run(script)

    async def end_processes(self) -> None:
        """End every process that carries this workspace's mark."""
        await _end_marked("PRISM_WORKSPACE", self._mark)

    async def memory_kills(self) -> int:
        """Not known without a container."""
        return 0

    async def _start(
        self, script: Script, command: str
    ) -> tuple[
        asyncio.subprocess.Process, list[tuple[asyncio.StreamReader, asyncio.ReadTransport]]
    ]:
        env = {**self._env, **(script.env or {})} if script.project else dict(self._own)
        env |= {"PRISM_WORKSPACE": self._mark, "PRISM_COMMAND": command}
        ends = [os.pipe() for _ in range(1 if script.merged else 2)]
        try:
            process = await asyncio.create_subprocess_exec(
                *(self._shell, "-c", script.text, "prism", *script.args),
                cwd=self._layout.tree,
                env=env,
                stdin=asyncio.subprocess.PIPE,
                stdout=ends[0][1],
                stderr=ends[-1][1],
                start_new_session=True,
            )
        except BaseException as error:
            for read_end, _ in ends:
                os.close(read_end)
            if isinstance(error, OSError):  # mostly a tree that was removed or closed
                raise WorkspaceLost(f"The folder cannot run commands any more: {error}") from error
            raise
        finally:
            for _, write_end in ends:
                os.close(write_end)
        return process, [await _reader(read_end) for read_end, _ in ends]


async def _reader(read_end: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb")
    )
    return reader, transport


async def _drain(reader: asyncio.StreamReader, sink: CappedOutput) -> bool:
    """Read to the end; True when it gave up on a flood."""
    while data := await reader.read(65536):
        sink.feed(data)
        if sink.total > FLOOD_BYTES:
            return True
    return False


async def _feed(process: asyncio.subprocess.Process, script: Script) -> None:
    """Write standard input and close it; a process that does not read is no error."""
    assert process.stdin is not None
    with suppress(ConnectionError):
        async for chunk in chunks(script.stdin):
            process.stdin.write(chunk)
            await process.stdin.drain()
    process.stdin.close()


async def _ended(process: asyncio.subprocess.Process, readers: list["asyncio.Task[bool]"]) -> None:
    """Wait for the process and the rest of its output, or for a flood."""
    waiting = asyncio.create_task(process.wait())
    try:
        pending: set[asyncio.Task[Any]] = {waiting, *readers}
        while waiting in pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            if any(task.result() for task in done if task is not waiting):
                return
        await asyncio.wait(readers, timeout=_GRACE_S)
    finally:
        waiting.cancel()


def _shell_code(code: int | None) -> int | None:
    """Signals as a shell reports them."""
    return code if code is None or code >= 0 else 128 - code


async def _end_marked(name: str, value: str) -> None:
    """Kill what carries the mark until nothing does (Linux; elsewhere there is no /proc)."""
    mark = f"{name}={value}".encode()
    for _ in range(50):
        found = [pid for pid in _processes() if mark in _environment(pid)]
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.02)


def _processes() -> list[int]:
    proc = Path("/proc")
    if not proc.is_dir():
        return []
    return [int(entry.name) for entry in proc.iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []  # gone, or somebody else's
