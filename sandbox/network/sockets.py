"""Where the proxy's socket lies, so that this process and the engine both see it."""

import errno
import os
import re
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

from sandbox.errors import EngineUnavailable, SandboxError

DIRECTORY, VOLUME = "PRISM_SOCKET_DIR", "PRISM_SOCKET_VOLUME"
INSIDE = "/run/prism"
_NAME = "proxy"
_MADE = re.compile(r"[0-9a-f]{32}")
_MAKING_S = 3600.0
_PATH_LIMIT = 100  # the kernel takes 107 bytes
_LOCAL = {"", "localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class SocketFolder:
    """A folder with one socket: `path` here; `mount` what the engine mounts at INSIDE."""

    path: Path
    mount: str
    inside: str


def require_local_engine(environ: Mapping[str, str]) -> None:
    """Raise EngineUnavailable when DOCKER_HOST names another machine's engine."""
    address = urlsplit(environ.get("DOCKER_HOST", ""))
    if address.scheme not in ("", "unix") and (
        address.scheme == "ssh" or (address.hostname or "") not in _LOCAL
    ):
        raise EngineUnavailable(
            "DOCKER_HOST names an engine on another machine. A set-up reaches package registries "
            "through a unix socket, so the engine must be on this machine: run a worker there."
        )


@contextmanager
def socket_folder(environ: Mapping[str, str]) -> Iterator[SocketFolder]:
    """A new folder for one socket; leaving removes it.

    It lies in PRISM_SOCKET_DIR, else in the user's or the system's run folder, under a name that
    cannot be guessed: whoever can open the socket may use the proxy. With PRISM_SOCKET_VOLUME
    the engine mounts that volume, whose root PRISM_SOCKET_DIR must be.
    """
    volume = environ.get(VOLUME, "").strip()
    parent = _parent(environ)
    folder = parent / token_hex(16)
    path = folder / _NAME
    if len(os.fsencode(path)) > _PATH_LIMIT:
        raise SandboxError(f"{parent} is too long a path for a socket; set {DIRECTORY}.")
    try:
        folder.mkdir(mode=0o755)
        folder.chmod(0o755)  # whatever the umask: the forwarder has a user of its own
    except OSError as error:
        raise SandboxError(
            f"No socket can be made in {parent} ({error.strerror}); set {DIRECTORY}."
        ) from error
    try:
        if volume:
            yield SocketFolder(path, volume, f"{INSIDE}/{folder.name}/{_NAME}")
        else:
            yield SocketFolder(path, str(folder), f"{INSIDE}/{_NAME}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep_sockets(environ: Mapping[str, str]) -> int:
    """Remove folders of proxies that ended without doing so; returns how many.

    The kernel knows whether a socket has an owner, whatever process or container that is. A
    folder without a socket is being made, unless it is old.
    """
    try:
        folders = list(_parent(environ).iterdir())
    except (OSError, SandboxError):
        return 0  # it is said when a socket is needed
    gone = [folder for folder in folders if _MADE.fullmatch(folder.name) and _is_left(folder)]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return len(gone)


def _is_left(folder: Path) -> bool:
    """Whether nobody listens. Asked as what the socket is not, so that its owner hears nothing."""
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
            probe.connect(str(folder / _NAME))
    except FileNotFoundError:
        return found.st_mtime < time.time() - _MAKING_S
    except OSError as error:
        return error.errno == errno.ECONNREFUSED
    return False


def _parent(environ: Mapping[str, str]) -> Path:
    """The folder of all sockets: of this user alone, open to nobody for listing."""
    given = environ.get(DIRECTORY, "").strip()
    if environ.get(VOLUME, "").strip() and not given:
        raise SandboxError(f"{VOLUME} is set and {DIRECTORY} is not: say where it is mounted.")
    try:
        if given:
            parent = Path(given).absolute()
            parent.mkdir(mode=0o711, parents=True, exist_ok=True)
            return parent
        parent = _default(environ)
        parent.mkdir(mode=0o711, exist_ok=True)
        found = parent.lstat()
    except OSError as error:
        raise SandboxError(f"{error.filename}: {error.strerror}; set {DIRECTORY}.") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise SandboxError(f"{parent} does not belong to this user alone; set {DIRECTORY}.")
    return parent


def _default(environ: Mapping[str, str]) -> Path:
    if os.geteuid() == 0 and Path("/run").is_dir():
        return Path("/run/prism")
    own = environ.get("XDG_RUNTIME_DIR", "")
    if own and Path(own).is_dir():
        return Path(own) / "prism"
    return Path(tempfile.gettempdir()) / f"prism-{os.geteuid()}"
