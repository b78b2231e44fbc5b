"""What other tools take to index the same tree. Each runs outside this process.

A peer that is not there is skipped and said to be. RepoGraph imports what it analyses, so it runs
in a container without network only.
"""

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 1800.0
IMAGE_LABEL = "prism.bench=indexing"
LOCAGENT = """
import sys
sys.path.insert(0, sys.argv[1])
from build_graph import build_graph
graph = build_graph(sys.argv[2], global_import=True)
print(len(graph.nodes), "nodes", len(graph.edges), "edges")
"""
AIDER = """
import sys
from pathlib import Path
from aider.io import InputOutput
from aider.repomap import RepoMap
class Model:
    def token_count(self, text):
        return len(text) // 4
io = InputOutput(yes=True, pretty=False)
map_ = RepoMap(map_tokens=1024, root=sys.argv[1], main_model=Model(), io=io, refresh="always")
files = [str(path) for path in Path(sys.argv[1]).rglob("*.py")]
print(len(map_.get_repo_map([], files) or ""), "characters of map")
"""


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the others are: folders of their sources, interpreters that have what they need."""

    locagent: Path | None = None
    locagent_python: Path | None = None
    repograph: Path | None = None
    repograph_libraries: Path | None = None
    repograph_image: str = ""
    aider_python: Path | None = None


@dataclass(frozen=True, slots=True)
class Took:
    """How long a peer took, None when it did not run or finish; `detail` says what it said."""

    seconds: float | None
    detail: str


def all_of(peers: Peers, tree: Path, scratch: Path) -> dict[str, Took]:
    """Every peer on one tree, by name."""
    return {
        "LocAgent": locagent(peers, tree),
        "RepoGraph": repograph(peers, tree),
        "universal-ctags": ctags(tree),
        "aider's repo map": aider(peers, tree, scratch),
    }


def locagent(peers: Peers, tree: Path) -> Took:
    """LocAgent's graph builder, as its own batch script calls it."""
    if peers.locagent is None or peers.locagent_python is None:
        return Took(None, "skipped: --locagent and --locagent-python not given")
    code = str(peers.locagent / "dependency_graph")
    return _run([str(peers.locagent_python), "-c", LOCAGENT, code, str(tree)], tree.parent)


def repograph(peers: Peers, tree: Path) -> Took:
    """RepoGraph's graph, in a container without network."""
    sources, libraries = peers.repograph, peers.repograph_libraries
    if sources is None or libraries is None or not peers.repograph_image:
        return Took(None, "skipped: --repograph, -libraries and -image not given")
    mounts = [f"{sources}:/repograph:ro", f"{libraries}:/libraries:ro", f"{tree}:/tree:ro"]
    command = ["docker", "run", "--rm", "--network", "none", "--memory", "6g", "--label"]
    command += [IMAGE_LABEL, *(part for mount in mounts for part in ("--volume", mount))]
    command += ["--env", "PYTHONPATH=/libraries", "--workdir", "/tmp", peers.repograph_image]  # noqa: S108 - in the container
    command += ["timeout", str(LIMIT_S), "python3", "/repograph/repograph/construct_graph.py"]
    return _run([*command, "/tree"], tree.parent)


def ctags(tree: Path) -> Took:
    """universal-ctags over all files: names only, no calls."""
    if shutil.which("ctags") is None:
        return Took(None, "skipped: not installed")
    return _run(["ctags", "-R", "-f", os.devnull, str(tree)], tree.parent)


def aider(peers: Peers, tree: Path, scratch: Path) -> Took:
    """aider's repo map of all Python files, from an empty cache."""
    if peers.aider_python is None:
        return Took(None, "skipped: --aider-python not given")
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    return _run([str(peers.aider_python), "-c", AIDER, str(tree)], scratch, {"HOME": str(home)})


def _run(command: list[str], folder: Path, environ: Mapping[str, str] | None = None) -> Took:
    before, start = _cpu_s(), time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Took(None, f"did not finish: {error.__class__.__name__}")
    took = time.perf_counter() - start
    cpu_s = _cpu_s() - before
    last = (done.stdout.strip() or done.stderr.strip() or "–").splitlines()[-1][:80]
    if done.returncode:
        words = (done.stderr.strip() or "no message").splitlines()[-1][:120]
        return Took(None, f"failed after {took:.0f} s: {words}")
    cpu = "" if command[0] == "docker" else f"{cpu_s:.1f} s of CPU; "  # it is the engine's child
    return Took(took, cpu + last)


def _cpu_s() -> float:
    """What ended children used; on a busy machine it tells more than the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
