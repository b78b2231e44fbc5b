"""What does the harness take per agent turn? Beside mini-swe-agent's in the same run.

    python bench/overhead.py [--quick] [--peer PYTHON] [--json]

A scripted model that answers at once and `echo N` in each turn, so that what is left is the
harness: Prism's loop with reservation, records and journal on disk; mini-swe-agent's DefaultAgent
with its deterministic model and its trajectory on disk. Both in a plain folder and in a container
of the same image. `--peer` is the Python of an environment with mini-swe-agent; without it one is
made and removed again. Needs a Docker engine with the base image (`deploy/setup/engine.sh`). The
exit code is 1 when a goal is missed.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from statistics import median

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.measure import Row, ms, ratio, seconds
from bench.sandbox import shown
from bench.tree import Size, make_repository
from pipeline.agent.limits import AgentLimits
from pipeline.agent.loop import run_agent
from pipeline.agent.roles import CODER
from pipeline.agent.transcript import Transcript
from pipeline.journal import JsonLinesJournal
from pipeline.model.wire import body_of, estimated_tokens, request_hash
from pipeline.records import call_data
from pipeline.services import CallAddress, Json, ModelReply, ModelRequest
from pipeline.values import Usage
from sandbox.base import Environment, EnvironmentPlan, Sandbox
from sandbox.docker import DockerSandbox
from sandbox.process import ProcessSandbox

PEER = "mini-swe-agent==2.4.6"
RUN = "bench-overhead"
MODEL = "claude-sonnet-4-6"
TREE = Size(20, 1, 0, 0)
TASK = "Repair the issue. " * 60
_PEER_RUN = """
import json, os, sys, time
os.environ["MSWEA_SILENT_STARTUP"] = "1"
from pathlib import Path
from minisweagent.agents.default import DefaultAgent
from minisweagent.models.test_models import DeterministicModel, make_output

where, turns, task, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
if where == "folder":
    from minisweagent.environments.local import LocalEnvironment
    environment = LocalEnvironment(cwd=str(folder))
else:
    from minisweagent.environments.docker import DockerEnvironment
    environment = DockerEnvironment(image=where, cwd="/tmp", run_args=["--rm", "--network", "none"])
outputs = [make_output("One more.", [{"command": f"echo {n}"}], 0.0) for n in range(turns)]
agent = DefaultAgent(
    DeterministicModel(outputs=outputs, cost_per_call=0.0),
    environment,
    system_template="You are an engineer.",
    instance_template="{{task}}",
    step_limit=turns,
    cost_limit=0.0,
    output_path=folder / "trajectory.json",
)
start = time.perf_counter()
agent.run(task)
took = time.perf_counter() - start
assert agent.n_calls == turns and f"{turns - 1}\\n" in agent.messages[-2]["content"]
print(json.dumps(took))
"""


@dataclass(slots=True)
class Instant:
    """A model that answers at once, with all that the gateway does besides HTTP."""

    journal: JsonLinesJournal
    number: int = 0

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The next `echo`: made into a body, hashed, reserved, settled and recorded."""
        body = body_of(request, MODEL)
        digest, tokens = request_hash(body), estimated_tokens(body)
        handle = await self.journal.reserve(
            request.address, digest, 0.001, tokens=tokens, role="coder"
        )
        command = {"command": f"echo {self.number}"}
        said = {"type": "tool_use", "id": f"t{self.number}", "name": "shell", "input": command}
        usage = Usage(1, 1, 0, 1, 0.0)
        reply = ModelReply(({"type": "text", "text": "One more."}, said), "tool_use", usage, MODEL)
        self.number += 1
        await self.journal.settle(handle, usage, "tool_use")
        data: Json = call_data(request, MODEL, digest, usage, "tool_use", reply)
        await self.journal.record("call", str(request.address), request.address.attempt, data)
        return reply


async def ours(sandbox: Sandbox, environment: Environment, turns: int, folder: Path) -> float:
    """Seconds of an agent of so many turns; its workspace is made before."""
    journal = JsonLinesJournal(folder / "run.jsonl", 1000.0)
    async with sandbox.workspace(environment, "candidate", RUN) as workspace:

        async def work() -> None:
            run = await run_agent(
                Instant(journal),
                CODER,
                Transcript(TASK),
                CODER.tools(workspace, None),
                CallAddress("code", "G1", ""),
                AgentLimits(turns),
                journal,
            )
            seen = run.transcript.turns[-1].user[0]["content"]
            if run.exit_status != "turns" or f"\n{turns - 1}" not in seen:
                raise RuntimeError(f"The agent did not do its turns: {run.exit_status}, {seen}")

        return await seconds(work)


async def theirs(python: Path, where: str, turns: int, folder: Path) -> float:
    """The same of mini-swe-agent, in a process and an environment of its own."""
    command = (str(python), "-c", _PEER_RUN, where, str(turns), TASK, str(folder))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError("mini-swe-agent did not do its turns.")
    return float(out.decode().splitlines()[-1])


@dataclass(frozen=True, slots=True)
class Bench:
    """How much is measured, with whose Python, and where there is place for it."""

    python: Path
    rounds: int
    turns: int
    folder: Path

    async def row(self, name: str, sandbox: Sandbox, environment: Environment) -> Row:
        """Both ways in turn, every second round in reverse order; the first one warms up."""
        where = "folder" if name == "folder" else environment.reference
        found: dict[str, list[float]] = {"ours": [], "theirs": []}
        for number in range(self.rounds + 1):
            with tempfile.TemporaryDirectory(dir=self.folder) as place:
                for way in ("ours", "theirs") if number % 2 else ("theirs", "ours"):
                    if way == "ours":
                        took = await ours(sandbox, environment, self.turns, Path(place))
                    else:
                        took = await theirs(self.python, where, self.turns, Path(place))
                    found[way] += [took / self.turns] if number else []
        mine, peer = found["ours"], found["theirs"]
        detail = f"{ms(median(mine))} per turn against {ms(median(peer))}, {self.turns} turns"
        return Row(f"{name}_ratio", f"turn in a {name} / {PEER}", ratio(mine, peer), 1.0, detail)


async def measure(bench: Bench) -> list[Row]:
    """A row for the plain folder and one for the container."""
    plan = EnvironmentPlan("python", (), "python -c pass", "exit_code", "bench")
    tree = bench.folder / "tree"
    tree.mkdir()
    source = make_repository(tree, "bench/overhead", TREE)
    plain = ProcessSandbox(data_dir=bench.folder / "data", allow=True)
    rows = [await bench.row("folder", plain, await plain.prepare(source, plan, RUN))]
    engine = DockerSandbox(instance="bench-overhead")
    try:
        environment = await engine.prepare(source, plan, RUN)
        return [*rows, await bench.row("container", engine, environment)]
    finally:
        await engine.remove_environments(source.repository)
        await engine.close()


def peer_python(folder: Path) -> Path:
    """The Python of a new environment with mini-swe-agent in it."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", PEER], check=True)
    return python


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--json", action="store_true", help="the ratios, as JSON")
    parser.add_argument("--quick", action="store_true", help="few rounds of few turns")
    parser.add_argument("--peer", type=Path, help="a Python with mini-swe-agent")
    asked = parser.parse_args()
    rounds, turns = (2, 20) if asked.quick else (7, 60)
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as scratch:
        folder = Path(scratch)
        python = asked.peer or peer_python(folder / "peer")
        rows = asyncio.run(measure(Bench(python, rounds, turns, folder)))
    if asked.json:
        print(json.dumps({row.key: row.value for row in rows}, indent=2))
    else:
        print(shown(rows))
    return int(any(row.is_missed for row in rows))


_Raw = argparse.RawDescriptionHelpFormatter

if __name__ == "__main__":
    sys.exit(main())
