"""An engine that goes away in the middle, and comes back."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from sandbox.base import Command, Environment
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine
from sandbox.errors import EngineUnavailable, SandboxError, WorkspaceLost

pytestmark = pytest.mark.engine

INSTANCE = f"prism-tests-lost-{os.getpid()}"
ENGINE = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")


class Line:
    """A socket that leads to the real engine until it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._sockets: list[socket.socket] = []
        self._threads: list[Thread] = []

    def lay(self) -> None:
        """Connect: from now on there is an engine."""
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self.path))
        listener.listen()
        self._sockets.append(listener)
        self._start(self._accept, listener)

    def cut(self) -> None:
        """Take it away, with every connection."""
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()
        self._sockets.clear()
        self._threads.clear()
        self.path.unlink(missing_ok=True)

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        thread = Thread(target=work, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):  # shut down
            while True:
                here, _ = listener.accept()
                there = socket.socket(socket.AF_UNIX)
                self._sockets += [here, there]
                there.connect(ENGINE)
                self._start(_copy, here, there)
                self._start(_copy, there, here)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """The only way this test's sandbox has to the engine."""
    line = Line(tmp_path / "engine.sock")
    line.lay()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{line.path}")
    yield line
    line.cut()


async def names(engine: Engine) -> list[str]:
    """Containers of the instance."""
    label = {"label": f"prism.instance={INSTANCE}"}
    found = await engine.call(lambda c: c.api.containers(all=True, filters=label))
    return [each["Names"][0].removeprefix("/") for each in found]


async def test_an_engine_that_goes_away_and_comes_back(line: Line, prepared: Environment) -> None:
    """A command and the removal fail with one plain sentence; the next sweep makes good for it."""
    sandbox, engine = DockerSandbox(instance=INSTANCE), Engine()
    context = sandbox.workspace(prepared, "candidate", "run-lost")
    workspace = await context.__aenter__()
    assert (await workspace.exec(Command("true"))).ok
    late = asyncio.create_task(workspace.exec(Command("sleep 20", timeout_s=20)))
    await asyncio.sleep(0.5)
    assert await sandbox.remove_orphans() == 0  # in use

    line.cut()
    with pytest.raises(SandboxError):
        await late
    with pytest.raises(EngineUnavailable, match="Start Docker or set DOCKER_HOST"):
        await workspace.exec(Command("true"))
    with pytest.raises(EngineUnavailable):
        await sandbox.remove_orphans()
    with pytest.raises(EngineUnavailable):
        await context.__aexit__(None, None, None)

    line.lay()
    assert len(await names(engine)) == 1
    assert await sandbox.remove_orphans() == 1
    assert await names(engine) == []
    await sandbox.close()
    await engine.close()


async def test_a_container_an_engine_restart_ended(
    docker: DockerSandbox, prepared: Environment
) -> None:
    """A restarted engine leaves containers stopped: the item is lost and can be started again."""
    engine = Engine()
    async with docker.workspace(prepared, "candidate", "run-ended") as workspace:
        label = {"label": ["prism.run=run-ended"]}
        (found,) = await engine.call(lambda c: c.api.containers(filters=label))
        await engine.call(lambda c: c.api.kill(found["Id"]))
        with pytest.raises(WorkspaceLost):
            await workspace.exec(Command("true"))
    await engine.close()
