"""Speed of the code index: `python bench/indexing.py --repos DIR [--json] [peers]`.

`DIR` holds bare mirrors named `owner__name.git`. The exit code is 1 when a goal was missed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from app.github.mirror import Mirror
from app.github.objects import MirrorObjects
from bench.measure import Row, p95
from bench.peers import Peers, all_of
from bench.sandbox import shown
from pipeline.index.build import build
from pipeline.index.graph import build_graph
from pipeline.index.rank.rank import rank
from pipeline.index.search.search import CodeSearch
from pipeline.index.store import Index, open_index

FULL = ("django__django", "sympy__sympy")
ASKED = "django__django"
ROUNDS = 2
NEXT_COMMITS = 10
QUERIES, ISSUES = 150, 60
KEYS = {
    "LocAgent": "locagent",
    "RepoGraph": "repograph",
    "universal-ctags": "ctags",
    "aider's repo map": "aider",
}
Json = dict[str, Any]


def measure(repos: Path, peers: Peers, quick: bool) -> list[Row]:
    """Every row of the table; `quick` builds only the repository that is asked too."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="prism-bench-") as folder:
        scratch = Path(folder)
        for name in [ASKED] if quick else FULL:
            rows += full(repos / f"{name}.git", name.partition("__")[2], peers, scratch)
        mirror = repos / f"{ASKED}.git"
        rows += again(mirror, scratch)
        objects = MirrorObjects(Mirror(mirror, "bench"))
        head = objects.resolve("HEAD")
        with open_index(scratch / "again.sqlite", head, objects) as index:
            rows += answers(index)
    return rows


def full(mirror: Path, name: str, peers: Peers, scratch: Path) -> list[Row]:
    """Full builds with the graph, before and after the peers, and what part of theirs they take."""
    runs = [_once(mirror, scratch)]
    tree = _exported(mirror, scratch / name)
    others = all_of(peers, tree, scratch)
    runs += [_once(mirror, scratch) for _ in range(ROUNDS - 1)]
    seconds, parse_s = median(r["seconds"] for r in runs), median(r["parse_s"] for r in runs)
    files, size = runs[0]["files"], runs[0]["bytes"] / 1e6
    memory = max(run["memory_mb"] for run in runs)
    speed = f"{files / seconds:.0f} files/s, {size / seconds:.1f} MB/s, {parse_s:.1f} s to parse, "
    speed += f"{median(r['cpu_s'] for r in runs):.1f} s of CPU"
    rows = [
        Row(f"{name}_seconds", f"{name}: full build and graph, s", seconds, None, speed),
        Row(f"{name}_memory_mb", f"{name}: peak memory, MB", memory, 1000, "parsers included"),
    ]
    for peer, took in others.items():
        key = f"{name}_{KEYS[peer]}_ratio"
        goal = 0.2 if peer in {"LocAgent", "RepoGraph"} and took.seconds is not None else None
        ratio = None if took.seconds is None else seconds / took.seconds
        detail = took.detail if took.seconds is None else f"{took.seconds:.1f} s; {took.detail}"
        rows.append(Row(key, f"{name}: ours / {peer}", ratio, goal, detail))
    return rows


def again(mirror: Path, scratch: Path) -> list[Row]:
    """The next commits of one store, in one process as a worker has it, against its full build."""
    objects, store = MirrorObjects(Mirror(mirror, "bench")), scratch / "again.sqlite"
    commits = [info.id for info in objects.history("HEAD", NEXT_COMMITS * 3) if info.paths]
    first, *later = reversed(commits[: NEXT_COMMITS + 1])
    whole = build(objects, first, store)
    took = [build(objects, commit, store) for commit in [*later, objects.resolve("HEAD")]]
    seconds = [stats.seconds for stats in took[:-1]]
    parsed = sum(stats.parsed for stats in took)
    detail = (
        f"{median(seconds) * 1000:.0f} ms, median of {len(seconds)} commits with {parsed} new "
        f"files, against {whole.seconds:.1f} s"
    )
    return [
        Row(
            "reindex_ratio",
            "next commit / full build",
            median(seconds) / whole.seconds,
            0.02,
            detail,
        )
    ]


def answers(index: Index) -> list[Row]:
    """How long searches and rankings take, once the index is open."""
    start = time.perf_counter()
    search = CodeSearch(index, build_graph(index))
    search.prepare()
    first = time.perf_counter() - start
    rows = [Row("open_seconds", "graph and names, first time, s", first, None, "")]
    chosen = _definitions(index)
    asked: dict[str, Callable[[str, str], object]] = {
        "find_file": lambda path, _: search.find_file(path.rpartition("/")[2]),
        "find_code_def": lambda _, name: search.find_code_def(name.rpartition(".")[2]),
        "find_code_def_regex": lambda _, name: search.find_code_def(_pattern(name)),
        "find_code_content": lambda _, name: search.find_code_content(name.rpartition(".")[2]),
        "find_child_unit": lambda path, name: search.find_child_unit(name, path),
    }
    for tool, ask in asked.items():
        took = list(_timed(ask, chosen))
        detail = f"{len(took)} questions, median {median(took):.1f} ms, longest {max(took):.0f} ms"
        rows.append(Row(f"{tool}_ms_p95", f"{tool}, p95 in ms", p95(took), 20, detail))
    issues = [info.message.partition("\n") for info in index.objects.history(index.commit, ISSUES)]
    start = time.perf_counter()
    rank(index, "warm", "up")
    first = time.perf_counter() - start
    took = list(
        _timed(lambda t, b: rank(index, t, b), [(title, body) for title, _, body in issues])
    )
    detail = f"{len(took)} texts, median {median(took):.0f} ms, first time {first:.1f} s"
    return [*rows, Row("rank_ms_p95", "rank, p95 in ms", p95(took), 300, detail)]


def _pattern(name: str) -> str:
    """A regular expression that finds a name, of one of six shapes; its length says which."""
    own = name.rpartition(".")[2]
    scope = name.rpartition(".")[0].rpartition(".")[2] or own
    shapes = (
        f"^{own[:-2]}\\w",
        f".*{own[1:]}$",
        f"{own[:4]}.*{own[-3:]}",
        f"({own[:-1]}|x{own}y)\\w*",
        f"[A-Za-z]+{own[-4:]}",
        f"{scope}\\.{own[:-1]}",
    )
    return shapes[len(name) % len(shapes)]


def _timed(ask: Callable[[str, str], object], given: Iterable[tuple[str, str]]) -> Iterator[float]:
    for pair in given:
        start = time.perf_counter()
        ask(*pair)
        yield (time.perf_counter() - start) * 1000


def _definitions(index: Index) -> list[tuple[str, str]]:
    """Some definitions of code that is no test, the same ones in every run."""
    found = [
        (row.path, item.name)
        for row, parsed in index.all_parsed()
        if not row.is_test
        for item in parsed.definitions
    ]
    return random.Random(4).sample(sorted(found), min(QUERIES, len(found)))


def _once(mirror: Path, scratch: Path) -> Json:
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        command = [sys.executable, "-m", "bench.build_once", str(mirror), "HEAD"]
        done = subprocess.run(
            [*command, str(Path(folder) / "store.sqlite")],
            cwd=Path(__file__).resolve().parents[1],
            capture_output=True,
            check=True,
        )
    found: Json = json.loads(done.stdout)
    return found


def _exported(mirror: Path, folder: Path) -> Path:
    """The tree of HEAD as files, which the peers need."""
    folder.mkdir()
    archive = subprocess.Popen(["git", "archive", "HEAD"], cwd=mirror, stdout=subprocess.PIPE)
    with archive:
        subprocess.run(["tar", "-x"], cwd=folder, stdin=archive.stdout, check=True)
    return folder


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repos", type=Path, required=True, help="bare mirrors, owner__name.git")
    parser.add_argument("--json", action="store_true", help="the figures with goals, as JSON")
    parser.add_argument("--quick", action="store_true", help="only django")
    parser.add_argument("--locagent", type=Path, help="a checkout of gersteinlab/LocAgent")
    parser.add_argument("--locagent-python", type=Path, help="with networkx and matplotlib")
    parser.add_argument("--repograph", type=Path, help="a checkout of ozyyshr/RepoGraph")
    parser.add_argument("--repograph-libraries", type=Path, help="a site-packages for it")
    parser.add_argument("--repograph-image", default="", help="an image with the same python3")
    parser.add_argument("--limit-s", type=float, default=1800.0, help="for each peer and tree")
    parser.add_argument("--aider-python", type=Path, help="with aider-chat")
    asked = vars(parser.parse_args())
    as_json, repos, quick = asked.pop("json"), asked.pop("repos"), asked.pop("quick")
    peers = {name: _whole(value) for name, value in asked.items()}
    rows = measure(repos.resolve(), Peers(**peers), quick)
    if as_json:
        print(json.dumps({row.key: row.value for row in rows}, indent=2))
    else:
        print(shown(rows))
    return int(any(row.is_missed for row in rows))


def _whole(value: Any) -> Any:
    """Absolute, for the peers run elsewhere; an interpreter's link into its environment stays."""
    return value.absolute() if isinstance(value, Path) else value


if __name__ == "__main__":
    sys.exit(main())
