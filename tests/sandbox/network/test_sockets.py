"""Where the proxy's socket lies, and the arguments of the container that mounts it."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.docker import DockerSandbox
from sandbox.engine.owner import OWNER, this_process
from sandbox.errors import EngineUnavailable, SandboxError
from sandbox.network.sidecar import sidecar_args
from sandbox.network.sockets import require_local_engine, socket_folder, sweep_sockets


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def test_a_folder_for_each_set_up(short: Path) -> None:
    """Another name each time, open to the forwarder's user, gone afterwards."""
    environ = {"PRISM_SOCKET_DIR": str(short / "sockets")}
    with socket_folder(environ) as one, socket_folder(environ) as two:
        assert one.path.parent != two.path.parent
        assert len(one.path.parent.name) == 32
        assert one.path.parent.stat().st_mode & 0o777 == 0o755
        assert one.path.parent.parent.stat().st_mode & 0o777 == 0o711
        assert (one.mount, one.inside) == (str(one.path.parent), "/run/prism/proxy")
    assert list((short / "sockets").iterdir()) == []


_OWNER = """
import os, socket, sys
with socket.socket(socket.AF_UNIX) as one:
    os.mkdir(sys.argv[1])
    one.bind(sys.argv[1] + "/proxy")
    one.listen()
    print("listening", flush=True)
    sys.stdin.read()
"""


def test_folders_that_a_process_left(short: Path) -> None:
    """A killed owner's are removed; those of living ones, and what is not ours, stay unheard."""
    environ = {"PRISM_SOCKET_DIR": str(short)}
    theirs, old, young, other = (short / (letter * 32) for letter in "abcd")
    arguments = [sys.executable, "-c", _OWNER, str(theirs)]
    with (
        socket_folder(environ) as ours,
        socket.socket(socket.AF_UNIX) as here,
        subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process,
    ):
        here.bind(str(ours.path))
        here.listen()
        here.setblocking(False)
        assert process.stdout is not None
        assert process.stdout.readline() == b"listening\n"
        for folder in (old, young):
            folder.mkdir()
        os.utime(old, (0, 0))
        other.write_text("no folder")
        (short / "prism.db").mkdir()
        os.utime(short / "prism.db", (0, 0))
        assert sweep_sockets(environ) == 1
        assert not old.exists()
        process.kill()
        process.wait()
        assert (theirs / "proxy").exists()
        assert sweep_sockets(environ) == 1
        left = {ours.path.parent, young, other, short / "prism.db"}
        assert set(short.iterdir()) == left
        with pytest.raises(BlockingIOError):
            here.accept()


@pytest.mark.engine
async def test_the_sandbox_sweeps(short: Path) -> None:
    """What is done at every start of a worker and now and then includes the sockets."""
    (short / ("a" * 32)).mkdir()
    os.utime(short / ("a" * 32), (0, 0))
    sandbox = DockerSandbox(
        instance=f"sockets-{os.getpid()}", environ={"PRISM_SOCKET_DIR": str(short)}
    )
    try:
        await sandbox.remove_orphans()
    finally:
        await sandbox.close()
    assert os.listdir(short) == []


def test_nothing_to_sweep(tmp_path: Path) -> None:
    """A folder that cannot be is no error yet: the first socket says so."""
    (tmp_path / "file").write_text("")
    assert sweep_sockets({"PRISM_SOCKET_DIR": str(tmp_path / "file")}) == 0
    assert sweep_sockets({"PRISM_SOCKET_VOLUME": "prism-sockets"}) == 0


def test_a_volume_by_its_name(short: Path) -> None:
    """A worker in a container names the volume; the socket is below its root."""
    environ = {"PRISM_SOCKET_DIR": str(short), "PRISM_SOCKET_VOLUME": "prism-sockets"}
    with socket_folder(environ) as folder:
        name = folder.path.parent.name
        assert folder.path.parent.parent == short
        assert (folder.mount, folder.inside) == ("prism-sockets", f"/run/prism/{name}/proxy")
    with (
        pytest.raises(SandboxError, match="PRISM_SOCKET_DIR"),
        socket_folder({"PRISM_SOCKET_VOLUME": "prism-sockets"}),
    ):
        pass


def test_places_that_will_not_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too long for a socket, not a folder, or one that others can write into."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / ("a" * 90), tmp_path / "file", tmp_path / "file" / "below"):
        with (
            pytest.raises(SandboxError, match="PRISM_SOCKET_DIR"),
            socket_folder({"PRISM_SOCKET_DIR": str(place)}),
        ):
            pass
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    (tmp_path / "prism").mkdir()
    with (
        pytest.raises(SandboxError, match="this user alone"),
        socket_folder({"XDG_RUNTIME_DIR": str(tmp_path)}),
    ):
        pass


@pytest.mark.parametrize("address", ["", "unix:///run/user/1/docker.sock", "tcp://127.0.0.1:2375"])
def test_engines_on_this_machine(address: str) -> None:
    """By a unix socket or the loopback interface."""
    require_local_engine({"DOCKER_HOST": address})


@pytest.mark.parametrize(
    "address", ["tcp://192.0.2.7:2376", "ssh://user@127.0.0.1", "https://e.test"]
)
def test_engines_elsewhere(address: str) -> None:
    """Whatever the transport, the error says where a worker has to run."""
    with pytest.raises(EngineUnavailable, match="run a worker there"):
        require_local_engine({"DOCKER_HOST": address})


def test_the_forwarder_can_do_nothing_else(short: Path) -> None:
    """Its container writes nowhere, has no rights, and is labelled like the one it serves."""
    with socket_folder({"PRISM_SOCKET_DIR": str(short)}) as folder:
        args = sidecar_args("image", "prism-1", folder, {"prism.run": "r"})
    assert args["network_mode"] == "container:prism-1"
    assert (args["user"], args["read_only"], args["cap_drop"]) == ("10003:10003", True, ["ALL"])
    assert (args["pids_limit"], args["mem_limit"]) == (64, "128m")
    assert args["volumes"] == {folder.mount: {"bind": "/run/prism", "mode": "ro"}}
    assert args["labels"] == {"prism.run": "r", "prism.role": "egress", OWNER: this_process()}
    assert "environment" not in args
