"""Run scripts in a container, and end what they started."""

import asyncio
import re
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from secrets import token_hex
from typing import Any

from sandbox.base import WORKSPACE_PATH
from sandbox.engine.client import ContainerEnded, Engine, Exec, ExecRefused
from sandbox.engine.containers import EXTRACT, ROOT, SANDBOX
from sandbox.engine.watch import Watched
from sandbox.errors import SandboxError, WorkspaceLost
from sandbox.runner import Layout, Outcome, Script
from sandbox.scripts import END_PROCESSES
from sandbox.setup import Place

HOME = "/home/sandbox"
VENV = "/opt/venv"
PRIVATE = "/opt/prism"
LAYOUT = Layout(
    tree=WORKSPACE_PATH,
    base_git=f"{PRIVATE}/base.git",
    work_git=f"{PRIVATE}/snapshots/git",
    scratch="/tmp",  # noqa: S108 - a tmpfs of this container
)
BUNDLE = f"{PRIVATE}/ca.pem"
MAKE_FOLDERS = f"""
set -e
mkdir -p {LAYOUT.tree} {PRIVATE}/snapshots {VENV} {HOME}
find {LAYOUT.tree} -xdev -mindepth 1 -delete
chown 0:0 {PRIVATE} {PRIVATE}/snapshots
chown 10001:10001 {LAYOUT.tree} {VENV} {HOME}
chmod 755 {LAYOUT.tree} {PRIVATE} {PRIVATE}/snapshots {VENV} {HOME}
"""
CLEAN = f"rm -f {BUNDLE}; find /tmp -xdev -mindepth 1 -delete"
# Standard output and errors in one stream, in their order. What a command leaves running holds a
# pipe to `cat` and not the engine's own stream, whose end the engine would await for 2 s before
# it tells of any other end in the container. Afterwards that pipe is drained, not broken.
_MERGED = """
exec 3> >(exec cat)
relay=$!
bash -c "$0" "$@" >&3 2>&1 3>&-
code=$?
exec 3>&- 2>/dev/null
for i in {1..200}; do kill -0 $relay || exit $code; done
for i in {1..8}; do sleep 0.01; kill -0 $relay || exit $code; done
exec 4< /proc/$relay/fd/0
cat <&4 > /dev/null &
kill -9 $relay
exit $code
"""
_DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_USERS = {"sandbox": SANDBOX, "extract": EXTRACT}
_MEMORY = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null"


class ContainerRunner:
    """Implements `sandbox.runner.Runner` for one running container.

    `watched` tells when its processes were ended for the disk's sake.
    """

    def __init__(
        self, engine: Engine, name: str, env: Mapping[str, str], watched: Watched | None = None
    ) -> None:
        self._engine = engine
        self._name = name
        self._env = env
        self._watched = watched
        self._ending = watched.ending if watched else asyncio.Lock()
        self._restarts = 0
        self._running = 0
        self._leftovers = False

    @property
    def layout(self) -> Layout:
        """Where things are."""
        return LAYOUT

    async def run(self, script: Script) -> Outcome:
        """Run a script; when it is cut or cancelled everything it started is ended first.

        While other scripts run in the same container only this one's processes are ended,
        recognised by a mark in their environment; all others follow with the last of them.
        Raises WorkspaceLost when the container is gone.
        """
        mark = token_hex(8)
        complete = False
        self._running += 1
        restarts, kills, start = self._restarts, self._disk_kills, time.monotonic()
        try:
            outcome = await self._started(script, mark)
            # With such a code a signal may have ended the relay, and the command goes on.
            complete = outcome.exit_code is not None and outcome.exit_code <= 128
        except WorkspaceLost as error:
            if self._restarts == restarts and self._disk_kills == kills:
                raise self._why_lost(error) from error
            # This harness ended it.
            nothing = Outcome(None, b"", b"", time.monotonic() - start)
            outcome = error.outcome if isinstance(error, ContainerEnded) else nothing
        finally:
            self._running -= 1
            if not complete:
                self._leftovers = True
                with suppress(SandboxError):  # a container that is gone has no processes
                    await self._end(_USERS[script.actor], mark if self._running else "")
        if self._leftovers and not self._running:
            with suppress(WorkspaceLost):  # the next command will say it
                await self.end_processes()
        # The code of a process that was ended tells nothing; who ended it knows.
        if self._disk_kills > kills:
            return replace(outcome, exit_code=None, disk_limit=True)
        return replace(outcome, exit_code=None) if self._restarts > restarts else outcome

    async def _started(self, script: Script, mark: str) -> Outcome:
        """Run it; when processes left behind keep it from starting, end them and try again."""
        user, env = _USERS[script.actor], {"PRISM_COMMAND": mark}
        try:
            return await self._exec(script, user, env)
        except ExecRefused:
            if self._running > 1 or not isinstance(script.stdin, bytes):
                raise
        await self.end_processes()
        return await self._exec(script, user, env)

    def _why_lost(self, error: WorkspaceLost) -> WorkspaceLost:
        if self._watched is None or not self._watched.stopped:
            return error
        return WorkspaceLost("The container was stopped because it filled the engine's disk.")

    @property
    def _disk_kills(self) -> int:
        return self._watched.kills if self._watched else 0

    async def as_root(self, script: Script) -> Outcome:
        """Run a script of the harness as root: in the set-up container only."""
        return await self._exec(script, ROOT, {})

    async def end_processes(self) -> None:
        """End every process of the sandbox user; the container's own has another user."""
        self._leftovers = False
        await self._end(SANDBOX, "")

    async def memory_kills(self) -> int:
        """The kernel's own counter (cgroup v1 or v2); the engine's flag misses commands."""
        try:
            outcome = await self._exec(Script(_MEMORY), EXTRACT, {})
        except SandboxError:  # a container that was stopped for its disk counts nothing
            return 0
        found = re.search(r"^oom_kill (\d+)$", outcome.text, re.MULTILINE)
        return int(found.group(1)) if found else 0

    async def _end(self, user: str, mark: str) -> None:
        """Kill until nothing is left; a container that cannot even start a shell is restarted."""
        script = Script(END_PROCESSES, args=(mark,), timeout_s=10)
        async with self._ending:
            for _ in range(3):
                try:
                    outcome = await self._exec(script, user, {})
                except ExecRefused:
                    continue  # a full process table refuses the shell itself
                if outcome.exit_code == 0:
                    return
            self._restarts += 1
            await self._engine.call(lambda c: c.api.restart(self._name, timeout=0))

    async def attach(self, argv: Sequence[str]) -> tuple[socket.socket, bytes]:
        """Start a process as the sandbox user and hand over its connection (`Engine.attach`).

        It is none of the scripts that are waited for; `end_processes` ends it like any other.
        """
        command = Exec(argv=argv, user=SANDBOX, env=self._env, workdir=WORKSPACE_PATH)
        return await self._engine.attach(self._name, command)

    async def _exec(self, script: Script, user: str, extra: Mapping[str, str]) -> Outcome:
        merge = ["bash", "-c", _MERGED] if script.merged else ["bash", "-c"]
        command = Exec(
            argv=[*merge, script.text, "prism", *script.args],
            user=user,
            env={**self._env, **(script.env or {}), **extra},
            workdir="/" if user == ROOT else WORKSPACE_PATH,
            stdin=script.stdin,
            timeout_s=script.timeout_s,
            output_limit=script.output_limit,
            merged=script.merged,
        )
        return await self._engine.exec(self._name, command)


async def container_runner(
    engine: Engine, name: str, watched: Watched | None = None
) -> ContainerRunner:
    """A runner whose commands find the virtual environment first on PATH."""
    found: Any = await engine.call(lambda c: c.api.inspect_container(name))
    pairs = (entry.partition("=") for entry in found["Config"].get("Env") or [])
    path = {key: value for key, _, value in pairs}.get("PATH") or _DEFAULT_PATH
    env = {
        "PATH": f"{VENV}/bin:{path}",
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "CI": "true",
        # A same-second edit of the same size must never meet a stale byte-code file.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return ContainerRunner(engine, name, env, watched)


def container_place(runner: ContainerRunner) -> Place:
    """The set-up container: the tree and the environment belong to the sandbox user."""
    return Place(
        runner=runner,
        venv=VENV,
        home=HOME,
        bundle=BUNDLE,
        python="python3",
        make_folders=MAKE_FOLDERS,
        clean=CLEAN,
    )
