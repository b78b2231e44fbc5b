"""How true the graph's `invokes` are: `python bench/edges.py --repos DIR [--locagent DIR]`.

DIR holds bare mirrors `owner__name.git` of the packages below. Their own test suites run in the
product's sandbox while a profiler writes down who calls whom inside the package; that is compared
with the graph, and with LocAgent's where `--locagent` names a checkout of it (with a `.venv` that
has networkx). Needs a Docker engine with the base image and a package registry.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from app.command import term_as_interrupt
from app.github.mirror import Mirror, local_mirror
from app.github.objects import MirrorObjects
from app.github.source import MirrorSource
from pipeline.index.build import build
from pipeline.index.graph import Graph, build_graph
from pipeline.index.store import Index, open_index
from sandbox.base import Command, EnvironmentPlan
from sandbox.docker import DockerSandbox

Pair = tuple[str, str]
PLUGIN = Path(__file__).with_name("call_trace.py")
REPORT = "prism-calls.json"
LEVELS = (1.0, 0.6, 0.3)
RUN_S = 900.0


@dataclass(frozen=True, slots=True)
class Package:
    """A package under measure: its mirror's name, its commit, its folder, what its tests need."""

    repository: str
    commit: str
    folder: str
    install: str


PACKAGES = (
    Package("pallets__click", "2c8cd3ac", "src/click", "pip install -e . pytest"),
    Package("andialbrecht__sqlparse", "60cdc64", "sqlparse", "pip install -e . pytest"),
    Package(
        "marshmallow-code__marshmallow",
        "341b927f",
        "src/marshmallow",
        "pip install -e . pytest simplejson",
    ),
    Package(
        "python-attrs__attrs",
        "3dca08ce",
        "src/attr",
        "SETUPTOOLS_SCM_PRETEND_VERSION=25.3.0 pip install -e . pytest hypothesis cloudpickle",
    ),
)


@dataclass(frozen=True, slots=True)
class Trace:
    """What a suite did: units that ran, pairs that were called, and those called by a call
    instruction (not a property, an operator or a `with`)."""

    ran: frozenset[str]
    pairs: frozenset[Pair]
    called: frozenset[Pair]


@dataclass(frozen=True, slots=True)
class Score:
    """One graph against one trace. `recall` is of what call instructions called, `recall_all` of
    everything; `edges` counts those that could be judged."""

    package: str
    graph: str
    edges: int
    precision: float
    recall: float
    recall_all: float


async def traced(package: Package, mirror: Mirror, commit: str) -> Trace:
    """Run a package's suite in a container under the profiler."""
    sandbox = DockerSandbox(instance=f"bench-{os.getpid()}")
    repository = f"bench-edges/{package.repository}-{os.getpid()}"
    source = MirrorSource(repository, commit, mirror)
    plan = EnvironmentPlan("python", (package.install,), "", "pytest", "bench")
    try:
        environment = await sandbox.prepare(source, plan, "bench-edges")
        async with sandbox.workspace(environment, "candidate", "bench-edges") as workspace:
            await workspace.write("prism_call_trace.py", PLUGIN.read_text("utf-8"))
            folder = f"{workspace.path}/{package.folder}"
            variables = {
                "PRISM_CALLS": f"{folder}::{workspace.path}/{REPORT}",
                "PYTHONPATH": workspace.path,
            }
            line = "python -m pytest -q --maxfail=50 -p prism_call_trace -p no:cacheprovider"
            done = await workspace.exec(Command(line, RUN_S, env=variables))
            report = await workspace.exec(Command(f"cat {REPORT}", output_limit=50_000_000))
            if not report.ok:
                raise RuntimeError(f"{package.repository} left no trace:\n{done.output}")
            print(f"{package.repository}: {done.output.strip().splitlines()[-1]}", file=sys.stderr)
            return _trace(package.folder, json.loads(report.output))
    finally:
        await sandbox.remove_environments(repository)
        await sandbox.close()


def _trace(folder: str, report: dict[str, Any]) -> Trace:
    def unit(place: Iterable[str]) -> str:
        path, name = place
        return f"{folder}/{path}:{name}"

    pairs = [((unit(a), unit(b)), is_call) for a, b, is_call in report["pairs"]]
    return Trace(
        frozenset(unit(place) for place in report["ran"]),
        frozenset(pair for pair, _ in pairs),
        frozenset(pair for pair, is_call in pairs if is_call),
    )


def scored(name: str, graph: str, trace: Trace, edges: set[Pair], seen: set[str]) -> Score:
    """Compare; only edges whose source ran and whose target a profiler can see are judged."""
    judged = {(a, b) for a, b in edges if a in trace.ran and b in seen}
    return Score(
        name,
        graph,
        len(judged),
        len(judged & trace.pairs) / max(1, len(judged)),
        len(edges & trace.called) / max(1, len(trace.called)),
        len(edges & trace.pairs) / max(1, len(trace.pairs)),
    )


def plain(unit: str) -> str:
    """An id without the number of a second definition, an `__init__` as its class."""
    return unit.partition("#")[0].removesuffix(".__init__").removesuffix(".__new__")


def ours(graph: Graph, folder: str, level: float) -> set[Pair]:
    """The graph's pairs inside a package, from this confidence on; module level left out."""
    return {
        (plain(edge.source), plain(edge.target))
        for edge in graph.edges(["invokes"])
        if edge.confidence >= level and _inside(folder, edge.source, edge.target)
    }


def _inside(folder: str, *units: str) -> bool:
    return all(unit.startswith(folder + "/") and ":" in unit for unit in units)


def visible(index: Index, graph: Graph, folder: str) -> set[str]:
    """Units that a profiler can see being called: functions, and classes with an `__init__`."""
    found = set()
    inside = (row.path for row in index.files() if row.path.startswith(folder + "/"))
    for unit in (unit for path in inside for unit in index.units(path)):
        bases = (edge.target for edge in graph.neighbours(unit.id, ["inherits"], "out", 6))
        makers = (f"{c}.{name}" for c in (unit.id, *bases) for name in ("__init__", "__new__"))
        if unit.kind == "function" or (unit.kind == "class" and any(m in graph for m in makers)):
            found.add(plain(unit.id))
    return found


# LocAgent's own code in its own process; what it draws pictures with is not needed.
_LOCAGENT = """
import json, sys, types
for name in ("matplotlib", "matplotlib.pyplot", "matplotlib.lines"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["matplotlib.lines"].Line2D = None
sys.path.insert(0, sys.argv[1])
from dependency_graph.build_graph import build_graph
graph = build_graph(sys.argv[2], global_import=True)
pairs = {(a, b) for a, b, d in graph.edges(data=True) if d["type"] == "invokes"}
print(json.dumps(sorted(pairs)))
"""


def theirs(checkout: Path, mirror: Mirror, commit: str, folder: str) -> set[Pair]:
    """LocAgent's pairs inside a package, by its own settings for building an index."""
    python = checkout / ".venv/bin/python"
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as scratch:
        archive = subprocess.run(
            ["git", f"--git-dir={mirror.path}", "archive", commit], check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", scratch], input=archive, check=True)
        command = [python if python.exists() else sys.executable, "-c", _LOCAGENT]
        done = subprocess.run(
            [*command, str(checkout), scratch], check=True, capture_output=True, text=True
        )
    pairs = json.loads(done.stdout.splitlines()[-1])
    return {(plain(a), plain(b)) for a, b in pairs if _inside(folder, a, b)}


def measure(package: Package, repos: Path, locagent: Path | None) -> list[Score]:
    """All rows of one package."""
    with (
        local_mirror(repos / f"{package.repository}.git") as mirror,
        tempfile.TemporaryDirectory(prefix="prism-bench-") as scratch,
    ):
        objects = MirrorObjects(mirror)
        commit = objects.resolve(package.commit)
        store = Path(scratch) / "store.sqlite"
        build(objects, commit, store, workers=1)
        with open_index(store, commit, objects) as index:
            graph = build_graph(index)
            seen = visible(index, graph, package.folder)
        trace = asyncio.run(traced(package, mirror, commit))
        found = {f"ours ≥ {level}": ours(graph, package.folder, level) for level in LEVELS}
        if locagent is not None:
            found["LocAgent"] = theirs(locagent, mirror, commit, package.folder)
        name = f"{package.repository.replace('__', '/')}@{commit[:8]}"
        return [scored(name, kind, trace, edges, seen) for kind, edges in found.items()]


def shown(scores: Iterable[Score]) -> str:
    """The table in Markdown."""
    day = datetime.now(UTC).date().isoformat()
    lines = [
        f"| package ({day}) | graph | edges judged | precision | recall of calls | of everything |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for s in scores:
        rates = " | ".join(f"{100 * rate:.1f}" for rate in (s.precision, s.recall, s.recall_all))
        lines.append(f"| {s.package} | {s.graph} | {s.edges} | {rates} |")
    return "\n".join(lines)


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--repos", type=Path, required=True, help="folder of bare mirrors")
    parser.add_argument("--locagent", type=Path, help="a checkout of LocAgent to compare with")
    asked = parser.parse_args()
    scores: list[Score] = []
    with term_as_interrupt():
        for package in PACKAGES:
            if (asked.repos / f"{package.repository}.git").is_dir():
                scores += measure(package, asked.repos, asked.locagent)
            else:
                print(f"{package.repository}: no mirror, left out", file=sys.stderr)
    if asked.json:
        rows = [{name: getattr(s, name) for name in Score.__slots__} for s in scores]
        print(json.dumps(rows, indent=2))
    else:
        print(shown(scores))
    return int(not scores)


if __name__ == "__main__":
    sys.exit(main())
