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

TIMED_OUT = 124
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


# Its own main program, with what stops that mended: files that it fails on (all at the top of a
# tree) are left out, and its graph reads tags by key, which its tags are not.
REPOGRAPH = """
import sys
sys.path.insert(0, "/repograph/repograph")
from construct_graph import CodeGraph
tags_of, failed = CodeGraph.get_tags, []
def get_tags(self, fname, rel_fname):
    try:
        return tags_of(self, fname, rel_fname)
    except (KeyError, IndexError, SyntaxError, UnboundLocalError, UnicodeDecodeError) as error:
        failed.append(error)
        return []
def tag_to_graph(self, tags, graph_of=CodeGraph.tag_to_graph):
    return graph_of(self, [tag._asdict() if hasattr(tag, "_asdict") else tag for tag in tags])
CodeGraph.get_tags, CodeGraph.tag_to_graph = get_tags, tag_to_graph
graph = CodeGraph(root="/tree")
_, found = graph.get_code_graph(graph.find_files(["/tree"]))
print(len(found.nodes), "nodes", len(found.edges), "edges", len(failed), "files failed")
"""


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the others are: folders of their sources, interpreters that have what they need.

    What takes longer than `limit_s` is stopped.
    """

    locagent: Path | None = None
    locagent_python: Path | None = None
    repograph: Path | None = None
    repograph_libraries: Path | None = None
    repograph_image: str = ""
    aider_python: Path | None = None
    limit_s: float = 1800.0


@dataclass(frozen=True, slots=True)
class Took:
    """How long a peer took, the limit when it was stopped there, None when it did not run or
    failed; `detail` says what it said."""

    seconds: float | None
    detail: str


def all_of(peers: Peers, tree: Path, scratch: Path) -> dict[str, Took]:
    """Every peer on one tree, by name."""
    return {
        "LocAgent": locagent(peers, tree),
        "RepoGraph": repograph(peers, tree),
        "universal-ctags": ctags(peers, tree),
        "aider's repo map": aider(peers, tree, scratch),
    }


def locagent(peers: Peers, tree: Path) -> Took:
    """LocAgent's graph builder, as its own batch script calls it."""
    if peers.locagent is None or peers.locagent_python is None:
        return Took(None, "skipped: --locagent and --locagent-python not given")
    code = str(peers.locagent / "dependency_graph")
    return _run(peers, [str(peers.locagent_python), "-c", LOCAGENT, code, str(tree)], tree.parent)


def repograph(peers: Peers, tree: Path) -> Took:
    """RepoGraph's graph, in a container without network."""
    sources, libraries = peers.repograph, peers.repograph_libraries
    if sources is None or libraries is None or not peers.repograph_image:
        return Took(None, "skipped: --repograph, -libraries and -image not given")
    mounts = [f"{sources}:/repograph:ro", f"{libraries}:/libraries:ro", f"{tree}:/tree:ro"]
    command = ["docker", "run", "--rm", "--network", "none", "--memory", "6g", "--label"]
    command += [IMAGE_LABEL, *(part for mount in mounts for part in ("--volume", mount))]
    command += ["--env", "PYTHONPATH=/libraries", "--workdir", "/tmp", peers.repograph_image]  # noqa: S108 - in the container
    command += ["timeout", str(peers.limit_s), "python3", "-c", REPOGRAPH]
    return _run(peers, command, tree.parent)


def ctags(peers: Peers, tree: Path) -> Took:
    """universal-ctags over all files: names only, no calls."""
    if shutil.which("ctags") is None:
        return Took(None, "skipped: not installed")
    return _run(peers, ["ctags", "-R", "-f", os.devnull, str(tree)], tree.parent)


def aider(peers: Peers, tree: Path, scratch: Path) -> Took:
    """aider's repo map of all Python files, from an empty cache."""
    if peers.aider_python is None:
        return Took(None, "skipped: --aider-python not given")
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    return _run(
        peers, [str(peers.aider_python), "-c", AIDER, str(tree)], scratch, {"HOME": str(home)}
    )


def _run(
    peers: Peers, command: list[str], folder: Path, environ: Mapping[str, str] | None = None
) -> Took:
    before, start = _cpu_s(), time.perf_counter()
    try:
        done = subprocess.run(
            ["timeout", str(peers.limit_s), *command],
            cwd=folder,
            env={**os.environ, **(environ or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=peers.limit_s + 30,
            check=False,
        )
    except OSError as error:
        return Took(None, f"did not start: {error}")
    took = time.perf_counter() - start
    cpu_s = _cpu_s() - before
    if done.returncode == TIMED_OUT:
        return Took(peers.limit_s, "stopped unfinished, so the ratio is at most this")
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
