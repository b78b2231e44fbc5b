"""Arguments of Prism's containers: as little as repository code needs.

Never here: privileged, host paths, devices, the engine's socket, ports, host namespaces,
restart policies, or anything in `environment` (a commit would bake it into the image).
"""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sandbox.base import WORKSPACE_PATH, Limits
from sandbox.engine.client import APIError, Engine, ImageNotFound, LogConfig, NotFound, Ulimit
from sandbox.engine.owner import IN_USE, OWNER, PREFIX, this_process
from sandbox.engine.seccomp import profile
from sandbox.errors import SandboxError, WorkspaceLost

# Commands run as SANDBOX; the container's main process as KEEPER, so that `kill -9 -1` by the
# former ends every process but the container. EXTRACT reads trees to make patches.
SANDBOX, KEEPER, EXTRACT, ROOT = "10001:10001", "10002:10002", "10003:10003", "0:0"
KEEP_ALIVE = ["/bin/sleep", "infinity"]
SETUP_NETWORK = "none"


@dataclass(frozen=True, slots=True)
class Host:
    """What the engine offers and the operator chose.

    `private_cgroup`: a cgroup namespace of its own (cgroup v2). `runtime`: the engine's name of
    the program that runs containers ("" = its default), `setup_runtime` that for set-ups: one
    whose network the way out can join. `storage_quota`: the engine enforces a
    size of the writable layer. `allow_ptrace`: debuggers work in containers. `own_kernel`: the
    runtime brings one, whose threads the engine counts as the container's.
    """

    private_cgroup: bool = False
    runtime: str = ""
    setup_runtime: str = ""
    storage_quota: bool = False
    allow_ptrace: bool = False
    own_kernel: bool = False


def workspace_args(
    image: str, limits: Limits, labels: Mapping[str, str], host: Host
) -> dict[str, Any]:
    """A container for repository code: no network, no capability, bounded resources."""
    return {
        **_common(image, limits, labels, host),
        **_runtime(host.runtime),
        **_quota(limits.disk_mb, host),
        "user": KEEPER,
        "network_mode": "none",
        "mem_limit": f"{limits.memory_mb}m",
        "memswap_limit": f"{limits.memory_mb}m",  # equal: no swap
        "nano_cpus": int(limits.cpus * 1e9),
        "pids_limit": max(1024, limits.pids * 4) if host.own_kernel else limits.pids,
        "tmpfs": {
            "/tmp": f"rw,nosuid,nodev,exec,size={limits.tmp_mb}m,mode=1777,nr_inodes=100k"  # noqa: S108
        },
    }


def setup_args(image: str, limits: Limits, labels: Mapping[str, str], host: Host) -> dict[str, Any]:
    """The set-up container: with network, and root so that the harness can place files.

    Repository code runs in it too, as the sandbox user. Twice the processes and disk and half as
    much memory again as a workspace, because installers compile.
    """
    memory = f"{max(3072, limits.memory_mb * 3 // 2)}m"
    return {
        **_common(image, limits, labels, host),
        **_runtime(host.setup_runtime),
        **_quota(limits.disk_mb * 2, host),
        "user": ROOT,
        "network_mode": SETUP_NETWORK,
        "cap_add": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"],
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": int(max(2.0, limits.cpus) * 1e9),
        "pids_limit": limits.pids * 2,
    }


def _common(image: str, limits: Limits, labels: Mapping[str, str], host: Host) -> dict[str, Any]:
    largest = limits.file_mb * 1024 * 1024
    args: dict[str, Any] = {
        "image": image,
        "command": KEEP_ALIVE,
        "entrypoint": [],
        "init": True,  # reaps what repository code leaves behind
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true", f"seccomp={profile(host.allow_ptrace)}"],
        "ipc_mode": "private",
        "shm_size": "64m",
        "ulimits": [
            Ulimit(name="nofile", soft=4096, hard=4096),
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="fsize", soft=largest, hard=largest),
        ],  # not nproc: it counts one user id over the whole machine
        "log_config": LogConfig(type="none"),
        "oom_score_adj": 500,  # the kernel takes sandboxes before the worker
        "hostname": "sandbox",
        "working_dir": WORKSPACE_PATH,
        "labels": {**labels, OWNER: this_process()},
    }
    if host.private_cgroup:
        args["cgroupns"] = "private"
    return args


def _runtime(name: str) -> dict[str, Any]:
    return {"runtime": name} if name else {}


def _quota(disk_mb: int, host: Host) -> dict[str, Any]:
    return {"storage_opt": {"size": f"{disk_mb}M"}} if host.storage_quota else {}


@asynccontextmanager
async def started(engine: Engine, args: Mapping[str, Any]) -> AsyncIterator[str]:
    """A running container by name; leaving kills and removes it, cancelled or not."""
    name = f"{PREFIX}{secrets.token_hex(8)}"
    IN_USE.add(name)
    try:
        try:
            await engine.call(lambda c: c.containers.create(name=name, **args).start())
        except ImageNotFound as error:
            raise WorkspaceLost("The environment's image is gone; prepare it again.") from error
        except APIError as error:
            raise SandboxError(f"The engine cannot start a container: {error}") from error
        yield name
    finally:
        try:
            await engine.call(lambda c: _remove(c, name))
        finally:
            IN_USE.discard(name)  # what could not be removed is the sweep's from here on


def _remove(client: Any, name: str) -> None:
    try:
        client.api.remove_container(name, force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if error.status_code != 409:  # 409: somebody else is removing it already
            raise
