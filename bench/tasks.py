"""Does the right patch win? Real bugs, real tests, pools of scripted patches.

    python bench/tasks.py --tasks FILE [FILE …] --repos DIR [--only NAME …] [--effort] [--json]

FILE is JSON lines with fixes and their tests, DIR holds bare mirrors named `owner__name.git`. For
each task a pool with the known fix, halves of it, a breaking patch and misses is verified in
containers and voted on as in a run. With `--effort` also how many of twelve coders each effort
needs on these tasks, see `bench/task_effort.py`. The exit code is 1 when another patch than the
fix won, or a half was not turned down.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from app.github.source import MirrorSource, local_source
from app.services import Backend, open_backend
from app.settings import read_settings
from bench.silent import Silent
from bench.task_effort import Known, known_of, play
from bench.task_effort import table as effort_table
from bench.task_pools import (
    GOLD,
    FixTask,
    Pool,
    configuration,
    exclusions,
    pool_of,
    read_tasks,
    touched,
)
from pipeline.decide import decide
from pipeline.environment.prepare import prepare_environment
from pipeline.errors import ModelRefused, PipelineError
from pipeline.evidence.verify import verify_pool
from pipeline.explore.state import Exploration
from pipeline.journal import JsonLinesJournal
from pipeline.services import ModelReply, ModelRequest, RunConfig, Services
from pipeline.values import Decision, Exclusion, Task, Usage
from sandbox.errors import SandboxError


@dataclass(frozen=True, slots=True)
class Result:
    """How a task ended. `reasons` are of those that lost, by candidate."""

    task: str
    passing: int
    winner: str
    votes: tuple[int, ...]
    halves_turned_down: bool
    reasons: dict[str, str]
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the fix won and each half was turned down with a reason."""
        return self.winner == GOLD and self.halves_turned_down


@dataclass(frozen=True, slots=True)
class TestAgent:
    """A model that answers one question: which tests the issue asks to change."""

    found: Sequence[Exclusion]

    async def complete(self, request: ModelRequest) -> ModelReply:
        """See pipeline.services.Model; declines everything else."""
        if request.address.item != "exclusions":
            raise ModelRefused("Nothing but the Test agent is scripted here.")
        answer = {"exclusions": [asdict(each) for each in self.found]}
        block = {"type": "tool_use", "id": "t", "name": request.force_tool, "input": answer}
        return ModelReply((block,), "tool_use", Usage(), "scripted")


@contextmanager
def configured(mirror: Path, task: FixTask) -> Iterator[MirrorSource]:
    """The task's base commit with a `.github/prism.yml` on top, in a repository of its own."""
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
        scratch = Path(folder) / "scratch.git"

        def git(*words: str, given: str = "") -> str:
            environ = {"GIT_INDEX_FILE": f"{folder}/index", "PATH": "/usr/bin:/bin", "HOME": folder}
            command = ["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", *words]
            where = scratch if scratch.exists() else None
            done = subprocess.run(
                command,
                cwd=where,
                env=environ,
                input=given,
                capture_output=True,
                check=True,
                text=True,
            )
            return done.stdout.strip()

        git("clone", "-q", "--bare", "--shared", str(mirror), str(scratch))
        git("read-tree", task.base_commit)
        blob = git("hash-object", "-w", "--stdin", given=configuration(task))
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},.github/prism.yml")
        tree = git("write-tree")
        commit = git("commit-tree", tree, "-p", task.base_commit, "-m", "Set up")
        git("update-ref", "refs/heads/bench", commit)
        with local_source(scratch, commit) as source:
            yield source


async def tried(
    task: FixTask, mirror: Path, backend: Backend, folder: Path, *, effort: bool = False
) -> tuple[Result, Known | None]:
    """Verify and vote on the task's pool, as `prism fix` does once patches are written.

    With `effort` the suite runs on every candidate, also on those that a reproduction turned down.
    """
    with configured(mirror, task) as source:
        texts = {path: await _text(source, path) for path in touched(task)}
        known = {path: text for path, text in texts.items() if text is not None}
        pool = await pool_of(task, known)
        journal = JsonLinesJournal(folder / f"{task.name}.jsonl", 1.0)
        issue = Task(task.repository, None, task.title, task.body, source.base_commit)
        run = f"bench-{task.name}"
        services = Services(
            run, TestAgent(()), backend, source, journal, journal, Silent(), RunConfig()
        )
        environment = (await prepare_environment(services, task.body)).environment
        agent = TestAgent(exclusions(task, known, environment.stable_passes))
        services = replace(services, model=agent)
        async with backend.workspace(environment, "explore", run) as workspace:
            x = Exploration(issue, services, environment, workspace, "")
            decision = await decide(x, pool.candidates)
        seen = None
        if effort:
            bare = [replace(each, reproductions=()) for each in pool.candidates]
            suites, _ = await verify_pool(services, environment, bare, decision.exclusions)
            seen = known_of(task.name, GOLD, decision, suites)
    return result(task, pool, decision, len(environment.stable_passes)), seen


def result(task: FixTask, pool: Pool, decision: Decision, passing: int) -> Result:
    """What a decision comes to."""
    reasons = {gate.candidate: " ".join(gate.reasons) for gate in decision.ballot.gates}
    votes = tuple(cluster.votes for cluster in decision.ballot.clusters)
    winner = decision.ballot.winner or ""
    turned_down = all(reasons.get(half) for half in pool.halves)
    return Result(task.name, passing, winner, votes, turned_down, reasons)


async def _text(source: MirrorSource, path: str) -> str | None:
    data = await source.read(path)
    return None if data is None else data.decode()


async def measure(
    tasks: Sequence[FixTask], repos: Path, *, effort: bool = False
) -> tuple[list[Result], list[Known]]:
    """One after the other; a task without a mirror is left out and said to be."""
    found, seen = list[Result](), list[Known]()
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
        settings = read_settings({**os.environ, "PRISM_DATA_DIR": folder})
        backend = open_backend(settings)
        try:
            for task in tasks:
                mirror = repos / f"{task.repository.replace('/', '__')}.git"
                if not mirror.is_dir():
                    print(f"{task.name}: no mirror {mirror.name}", file=sys.stderr)
                    continue
                try:
                    ended, more = await tried(task, mirror, backend, Path(folder), effort=effort)
                    found.append(ended)
                    seen += [more] if more is not None else []
                except (PipelineError, SandboxError) as error:
                    found.append(Result(task.name, 0, "", (), False, {}, str(error)))
                said = found[-1].problem or f"{found[-1].winner or 'nobody'} won"
                print(f"{task.name}: {said}", file=sys.stderr)
        finally:
            await backend.close()
    return found, seen


def table(results: Sequence[Result]) -> str:
    """One row for each task, in Markdown."""
    lines = ["| task | tests | votes | won | turned down |", "| --- | --- | --- | --- | --- |"]
    for each in results:
        reasons = (f"{name}: {why}" for name, why in each.reasons.items() if why)
        lost = each.problem or "; ".join(reasons)
        votes = "/".join(map(str, each.votes))
        won = "the fix" if each.winner == GOLD else each.winner or "nobody"
        lines.append(f"| {each.task} | {each.passing} | {votes} | {won} | {lost} |")
    return "\n".join(lines)


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[], help="names such as tenacity-613")
    parser.add_argument("--effort", action="store_true", help="play runs of each effort, too")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tasks = [
        task for task in read_tasks(options.tasks) if task.name in options.only or not options.only
    ]
    results, seen = asyncio.run(measure(tasks, options.repos.resolve(), effort=options.effort))
    played = play(seen) if seen else []
    if options.json:
        rows = [asdict(each) for each in results]
        print(json.dumps({"tasks": rows, "effort": [asdict(each) for each in played]}))
    else:
        print("\n\n".join([table(results), *([effort_table(played)] if played else [])]))
    return 0 if results and all(each.ok for each in results) else 1


if __name__ == "__main__":
    sys.exit(main())
