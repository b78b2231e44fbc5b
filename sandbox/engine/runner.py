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
from sandbox.runner import HARNESS, SHELL, SYSTEM_PATH, Layout, Outcome, Script
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
# What the harness runs must not be what repository code could have written.
_TRUSTED = f"""
own=$(find -L {SYSTEM_PATH.replace(":", " ")} -maxdepth 1 \\( -type f -o -type d \\) \\( \\
  -user {SANDBOX.partition(":")[0]} -o -user {EXTRACT.partition(":")[0]} -o -perm -002 \\
  -o -group {SANDBOX.partition(":")[2]} -perm -020 \\) -print -quit 2>/dev/null) || true
if [ -n "$own" ]; then
  echo "the image lets everybody change $own, which the sandbox itself uses" >&2
  exit 1
fi
"""
MAKE_FOLDERS = f"""
set -e
{_TRUSTED}
mkdir -p {LAYOUT.tree} {PRIVATE}/snapshots {VENV} {HOME}
find {LAYOUT.tree} -xdev -mindepth 1 -delete
chown 0:0 {PRIVATE} {PRIVATE}/snapshots
chown 10001:10001 {LAYOUT.tree} {VENV} {HOME}
chmod 755 {LAYOUT.tree} {PRIVATE} {PRIVATE}/snapshots {VENV} {HOME}
"""
CLEAN = f"rm -f {BUNDLE}; find /tmp -xdev -mindepth 1 -delete"
# The variables of a line come as values of others, so that none can act on the shell that starts
# it, and none is seen in a list of processes.
_VARIABLES = """
own=()
for name in "${!PRISM_VARIABLE_@}"; do own+=("${!name}"); done
"""
_SPLIT = _VARIABLES + f'exec /usr/bin/env -i "${{own[@]}}" {SHELL} -c "$0" "$@"'
# Standard output and errors in one stream, in their order. What a command leaves running holds a
# pipe to `cat` and not the engine's own stream, whose end the engine would await for 2 s before
# it tells of any other end in the container. Afterwards that pipe is drained, not broken.
_MERGED = f"""{_VARIABLES}
exec 3> >(exec cat)
relay=$!
/usr/bin/env -i "${{own[@]}}" {SHELL} -c "$0" "$@" >&3 2>&1 3>&-
code=$?
exec 3>&- 2>/dev/null
for i in {{1..200}}; do kill -0 $relay || exit $code; done
for i in {{1..8}}; do sleep 0.01; kill -0 $relay || exit $code; done
exec 4< /proc/$relay/fd/0
cat <&4 > /dev/null &
kill -9 $relay
exit $code
"""
_USERS = {"sandbox": SANDBOX, "extract": EXTRACT}
_MEMORY = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null"


class ContainerRunner:
    """Implements `sandbox.runner.Runner` for one running container.

    `env` is for lines of the repository alone. `watched` tells when its processes were ended for
    the disk's sake.
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
        return await self._run(script, _USERS[script.actor])

    async def as_root(self, script: Script) -> Outcome:
        """Run a script of the harness as root: in the set-up container only."""
        if script.project:
            raise ValueError("No line of a repository runs as root.")
        return await self._run(script, ROOT)

    async def _run(self, script: Script, user: str) -> Outcome:
        mark = token_hex(8)
        complete = False
        self._running += 1
        restarts, kills, start = self._restarts, self._disk_kills, time.monotonic()
        try:
            outcome = await self._started(script, user, mark)
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
                    # Root's own processes are known by nothing but the mark.
                    await self._end(user, mark if self._running or user == ROOT else "")
        if self._leftovers and not self._running:
            with suppress(WorkspaceLost):  # the next command will say it
                await self.end_processes()
        # The code of a process that was ended tells nothing; who ended it knows.
        if self._disk_kills > kills:
            return replace(outcome, exit_code=None, disk_limit=True)
        return replace(outcome, exit_code=None) if self._restarts > restarts else outcome

    async def _started(self, script: Script, user: str, mark: str) -> Outcome:
        """Run it; when processes left behind keep it from starting, end them and try again."""
        try:
            return await self._exec(script, user, mark)
        except ExecRefused:
            if self._running > 1 or not isinstance(script.stdin, bytes):
                raise
        await self.end_processes()
        return await self._exec(script, user, mark)

    def _why_lost(self, error: WorkspaceLost) -> WorkspaceLost:
        if self._watched is None or not self._watched.stopped:
            return error
        return WorkspaceLost("The container was stopped because it filled the engine's disk.")

    @property
    def _disk_kills(self) -> int:
        return self._watched.kills if self._watched else 0

    async def end_processes(self) -> None:
        """End every process of the sandbox user; the container's own has another user."""
        self._leftovers = False
        await self._end(SANDBOX, "")

    async def memory_kills(self) -> int:
        """The kernel's own counter (cgroup v1 or v2); the engine's flag misses commands."""
        try:
            outcome = await self._exec(Script(_MEMORY), EXTRACT)
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
                    outcome = await self._exec(script, user)
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
        command = Exec(argv=argv, user=SANDBOX, env=HARNESS, workdir=WORKSPACE_PATH)
        return await self._engine.attach(self._name, command)

    def variables(self, script: Script, mark: str) -> dict[str, str]:
        """All variables a script finds: fixed ones, or those of the repository's lines."""
        harness = {name: value for name, value in HARNESS.items() if value is not None}
        chosen = {**self._env, **(script.env or {})} if script.project else harness
        return {**chosen, **({"PRISM_COMMAND": mark} if mark else {})}

    async def _exec(self, script: Script, user: str, mark: str = "") -> Outcome:
        start, env = [SHELL, "-c"], dict(HARNESS)
        if mark:
            env["PRISM_COMMAND"] = mark
        if script.merged or script.project:
            start.append(_MERGED if script.merged else _SPLIT)
            for number, (name, value) in enumerate(self.variables(script, mark).items()):
                env[f"PRISM_VARIABLE_{number}"] = f"{name}={value}"
        command = Exec(
            argv=[*start, script.text, "prism", *script.args],
            user=user,
            env=env,
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
    """A runner whose lines of a repository find the virtual environment first on PATH."""
    found: Any = await engine.call(lambda c: c.api.inspect_container(name))
    pairs = (entry.partition("=") for entry in found["Config"].get("Env") or [])
    image = {key: value for key, _, value in pairs}
    env = {
        **image,
        "PATH": f"{VENV}/bin:{image.get('PATH') or SYSTEM_PATH}",
        "HOSTNAME": "sandbox",
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
        trusted=_TRUSTED,
    )
