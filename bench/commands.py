"""One small command: through the product, by its persistent runner, `docker exec`, swe-rex."""

import asyncio
import json
import sys
from pathlib import Path
from statistics import median

from bench.engine import docker, remove, run_detached
from bench.measure import Row, in_turn, ms, ratio
from sandbox.base import Command, Environment
from sandbox.docker import DockerSandbox

RUN = "bench-exec"
_WARM_UP = 3
# swe-rex from its own client; prints seconds per call. Its server runs in the container.
_CLIENT = """
import asyncio, json, sys, time
from swerex.runtime.abstract import Command
from swerex.runtime.remote import RemoteRuntime

async def main():
    port, count = int(sys.argv[1]), int(sys.argv[2])
    runtime = RemoteRuntime(host="http://127.0.0.1", port=port, auth_token="bench")
    await runtime.wait_until_alive(timeout=60)
    found = []
    for _ in range(count):
        start = time.perf_counter()
        await runtime.execute(Command(command=["true"]))
        found.append(time.perf_counter() - start)
    print(json.dumps(found))

asyncio.run(main())
"""


async def commands(
    sandbox: DockerSandbox, environment: Environment, count: int, scratch: Path
) -> list[Row]:
    """`true` in a running container, by each way in turn."""
    async with sandbox.workspace(environment, "candidate", RUN) as workspace:
        name = (await docker("ps", "-q", "--filter", f"label=prism.run={RUN}")).strip()

        async def ours() -> None:
            if not (await workspace.exec(Command("true"))).ok:
                raise RuntimeError("true failed")

        async def runner() -> None:
            if not (await workspace.exec(Command("true", quick=True))).ok:
                raise RuntimeError("true failed")

        async def theirs() -> None:
            await docker("exec", name, "true")

        await in_turn(_WARM_UP, ours, runner, theirs)
        by_sdk, by_runner, by_cli = await in_turn(count, ours, runner, theirs)
    against = f"against {ms(median(by_cli))} of docker exec"
    return [
        Row(
            "exec_sdk_ratio",
            "command / docker exec",
            ratio(by_sdk, by_cli),
            1.0,
            f"{ms(median(by_sdk))} {against}",
        ),
        Row(
            "exec_runner_ratio",
            "quick command / docker exec",
            ratio(by_runner, by_cli),
            0.1,
            f"{ms(median(by_runner))} {against}",
        ),
        await _swe_rex(environment, median(by_cli), count, scratch),
    ]


async def _swe_rex(environment: Environment, cli_s: float, count: int, scratch: Path) -> Row:
    """The same command by swe-rex; a row without a value where it cannot be installed."""
    name = "swe-rex / docker exec"
    place = scratch / "swe-rex"
    # It uses aiohttp without naming it.
    packages = ("swe-rex", "aiohttp")
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place), *packages]
    if await _run(*install) is None:
        return Row("", name, None, None, "not measured: swe-rex cannot be installed here")
    server = ("python3", "-m", "swerex.server", "--auth-token", "bench", "--port", "8000")
    container = await run_detached(
        environment.reference,
        *("-p", "127.0.0.1::8000", "-v", f"{place}:/swe-rex:ro", "-e", "PYTHONPATH=/swe-rex"),
        command=server,
    )
    try:
        port = (await docker("port", container, "8000")).strip().rpartition(":")[2]
        out = await _run(sys.executable, "-c", _CLIENT, port, str(count), PYTHONPATH=str(place))
    finally:
        await remove([container])
    if out is None:
        return Row("", name, None, None, "not measured: its server does not start in the image")
    found: list[float] = json.loads(out)
    return Row("", name, median(found) / cli_s, None, f"{ms(median(found))} (its `execute`)")


async def _run(*command: str, **env: str) -> str | None:
    """What a command printed; None when it failed."""
    process = await asyncio.create_subprocess_exec(
        "env",
        *(f"{key}={value}" for key, value in env.items()),
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    out, _ = await process.communicate()
    return out.decode() if process.returncode == 0 else None
