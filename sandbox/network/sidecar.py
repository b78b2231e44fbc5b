"""The forwarder's container: in the set-up container's network, with the proxy's socket."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandbox.engine.client import APIError, Engine, LogConfig, NotFound, Ulimit
from sandbox.engine.containers import EXTRACT, started
from sandbox.engine.owner import OWNER, this_process
from sandbox.engine.seccomp import profile
from sandbox.errors import SandboxError
from sandbox.network.sockets import INSIDE, SocketFolder

PORT = 3128
START_S = 60.0  # a busy machine; a forwarder that cannot work ends at once
FORWARDERS = tuple(Path(__file__).with_name(f"forwarder.{end}") for end in ("py", "pl"))
# Exit code 127 tells that an image has neither language.
_START = r"""
command -v python3 >/dev/null && exec python3 -I -u -c "$0" "$2" "$3"
command -v perl >/dev/null && exec perl -e "$1" "$2" "$3"
exit 127
"""


def sidecar_args(
    image: str, container: str, folder: SocketFolder, labels: Mapping[str, str]
) -> dict[str, Any]:
    """A container that can do nothing but forward: no capability, no writable file."""
    return {
        "image": image,
        "entrypoint": ["/bin/sh", "-c", _START, *(path.read_text("utf-8") for path in FORWARDERS)],
        "command": [folder.inside, str(PORT)],
        "network_mode": f"container:{container}",
        "user": EXTRACT,
        "working_dir": "/",
        "read_only": True,
        "init": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true", f"seccomp={profile(False)}"],
        "ipc_mode": "private",
        "pids_limit": 64,
        "mem_limit": "128m",
        "memswap_limit": "128m",
        "ulimits": [
            Ulimit(name="nofile", soft=1024, hard=1024),
            Ulimit(name="core", soft=0, hard=0),
        ],
        "log_config": LogConfig(type="none"),
        "volumes": {folder.mount: {"bind": INSIDE, "mode": "ro"}},
        "labels": {**labels, "prism.role": "egress", OWNER: this_process()},
    }


@asynccontextmanager
async def forwarding(
    engine: Engine, args: Mapping[str, Any], arrived: asyncio.Event
) -> AsyncIterator[str]:
    """A running forwarder that has reached the proxy; leaving removes it and cuts everything.

    Raises SandboxError with what to do when it cannot reach the socket.
    """
    async with started(engine, args) as name:
        waiting = asyncio.create_task(arrived.wait())
        try:
            await _reached(engine, name, waiting)
        finally:
            waiting.cancel()
        yield name


async def _reached(engine: Engine, name: str, waiting: asyncio.Task[bool]) -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + START_S
    while loop.time() < deadline:
        done, _ = await asyncio.wait([waiting], timeout=0.5)
        if done:
            return
        state = await engine.call(lambda c: _state(c, name))
        if not state["Running"]:
            if state["ExitCode"] == 127:
                raise SandboxError(
                    "The set-up has no way out: its image has neither python3 nor perl to forward "
                    "with. Use an image that has one of them."
                )
            break
    raise SandboxError(
        "The set-up has no way out: its forwarder cannot reach the proxy's socket. The engine "
        "must be on this machine and see the folder PRISM_SOCKET_DIR; when the worker runs in a "
        "container, that folder must be a volume and PRISM_SOCKET_VOLUME its name."
    )


def _state(client: Any, name: str) -> dict[str, Any]:
    try:
        return dict(client.api.inspect_container(name)["State"])
    except (NotFound, APIError):
        return {"Running": False, "ExitCode": None}
