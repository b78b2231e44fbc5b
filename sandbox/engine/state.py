"""What is known about environments beside their images: locks, failures, when they were used.

Plain files in one folder that all workers of a machine share. A lock is the kernel's: it goes
with the process that holds it, however that ends.
"""

import asyncio
import fcntl
import json
import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from sandbox.errors import SetupFailed

FAILURE_S = 3600.0
NETWORK_FAILURE_S = 60.0
_POLL_S = 0.1
_NETWORK = re.compile(
    r"temporary failure in name resolution|could not resolve|name or service not known"
    r"|connection (refused|reset|timed out|aborted)|network is unreachable|read timed out"
    r"|\b(EAI_AGAIN|ETIMEDOUT|ECONNRESET|ECONNREFUSED|ENETUNREACH)\b|\b50[234] [A-Z]"
    r"|i/o timeout|tls handshake timeout|remote end closed connection",
    re.IGNORECASE,
)


class EnvironmentState:
    """The files of one machine's environments below `folder`, which is made when needed."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path.home() / ".cache" / "prism" / "environments"

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of a key; whoever else wants it waits, in this process or another."""
        with self._file("locks", key).open("w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(_POLL_S)
            yield

    def failure(self, repository: str, key: str) -> SetupFailed | None:
        """The failure of an earlier set-up that is too recent to try again."""
        path = self._file("failures", f"{_short(repository)}-{key}")
        try:
            kept: dict[str, Any] = json.loads(path.read_text())
            age = time.time() - path.stat().st_mtime
            error = SetupFailed(kept["line"], kept["exit_code"], kept["log"], tuple(kept["denied"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return error if age < (NETWORK_FAILURE_S if is_network(error) else FAILURE_S) else None

    def remember_failure(self, repository: str, key: str, error: SetupFailed) -> None:
        """Keep a failure for an hour, one of the network for a minute."""
        kept = {
            "line": error.line,
            "exit_code": error.exit_code,
            "log": error.log,
            "denied": error.denied,
        }
        path = self._file("failures", f"{_short(repository)}-{key}")
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(kept))
        draft.replace(path)

    def forget_failures(self, repository: str) -> int:
        """Let the next set-up of a repository be tried; returns how many were forgotten."""
        found = list(self._file("failures", "").glob(f"{_short(repository)}-*"))
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)

    def used(self, image: str) -> None:
        """Note that an image is used now."""
        self._file("used", image.removeprefix("sha256:")).touch()

    def last_used(self, image: str) -> float:
        """When an image was used last, in seconds since 1970; 0.0 when that is not known."""
        try:
            return self._file("used", image.removeprefix("sha256:")).stat().st_mtime
        except OSError:
            return 0.0

    def tidy(self, images: set[str]) -> None:
        """Forget when images were used that are no more and failures nobody asks for."""
        kept = {image.removeprefix("sha256:") for image in images}
        for path in self._file("used", "").iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)
        for path in self._file("failures", "").iterdir():
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > FAILURE_S:
                    path.unlink()

    def _file(self, kind: str, name: str) -> Path:
        folder = self.folder / kind
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / name


def is_network(error: SetupFailed) -> bool:
    """Whether a set-up may have failed for a network that is back soon, by the log's end.

    A host that was refused stays refused: that is none.
    """
    return not error.denied and bool(_NETWORK.search(error.log[-5000:]))


def _short(repository: str) -> str:
    return sha256(repository.encode()).hexdigest()[:16]
