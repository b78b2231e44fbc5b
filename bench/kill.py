"""A process tree that does not want to end, when its time is over."""

import time
from statistics import median

from bench.engine import docker
from bench.measure import Row, ms, p95
from sandbox.base import Command, Environment
from sandbox.docker import DockerSandbox

RUN = "bench-kill"
LIMIT_S = 0.3
_TRIES = 3  # times as many runs, for a machine too busy to start the tree within the limit
# A session of its own, one that ignores signals, one that is stopped, and the command itself.
TREE = """
setsid sleep 600 &
nohup bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done' >/dev/null 2>&1 &
sleep 600 & kill -STOP $!
echo started
sleep 600
"""
_KEEPERS = {"10002"}


async def kills(sandbox: DockerSandbox, environment: Environment, count: int) -> list[Row]:
    """How long after the limit a command returns, and whose processes are left then."""
    late: list[float] = []
    survivors = 0
    async with sandbox.workspace(environment, "candidate", RUN) as workspace:
        name = (await docker("ps", "-q", "--filter", f"label=prism.run={RUN}")).strip()
        for _ in range(count * _TRIES):
            start = time.perf_counter()
            ended = await workspace.exec(Command(TREE, timeout_s=LIMIT_S))
            took = time.perf_counter() - start
            table = (await docker("top", name, "-eo", "pid,uid")).splitlines()[1:]
            survivors += sum(row.split()[1] not in _KEEPERS for row in table)
            if ended.timed_out and "started" in ended.output:
                late.append(took - LIMIT_S)
            if len(late) == count:
                break
    if not late:
        raise RuntimeError("The tree was never running when its time was over.")
    detail = f"median {ms(median(late))}, {len(late)} runs; starting the command is part of it"
    return [
        Row("kill_ms_p95", "kill after the limit, ms (p95)", p95(late) * 1000, 250.0, detail),
        Row("kill_survivors", "processes left", float(survivors), 0.0, f"after {len(late)} runs"),
    ]
