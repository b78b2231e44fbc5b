"""The measure of localization counts what it says, on a real repository with known places."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.instances import NOWHERE, best, first_ranks, read, worst
from pipeline.index.values import Scored
from tests.indexed import commit, git

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return sum(self.prices)\n",
    "shop/stock.py": "def reserve(count):\n    return count\n",
    "tests/test_cart.py": "def test_total(): assert 0\n",
}


@pytest.fixture
def instances(tmp_path: Path) -> Path:
    """Three instances: two of a repository whose mirror is in `repos`, one of another."""
    head = commit(tmp_path / "r", FILES)
    (tmp_path / "repos").mkdir()
    git(tmp_path, "clone", "-q", "--bare", "r", "repos/o__shop.git")
    rows = [
        _row("a", "o/shop", head, "Cart.total is wrong", "shop/cart.py", "Cart.total", ["lite"]),
        _row("b", "o/shop", head, "reserve more stock", "shop/stock.py", "new_one", ["lite", "x"]),
        _row("c", "o/gone", head, "x", "a.py", "f", ["lite"]),
        _row("d", "o/shop", head, "x", "a.py", "f", ["x"]),
    ]
    path = tmp_path / "instances.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _row(
    name: str, repo: str, head: str, title: str, path: str, function: str, splits: list[str]
) -> dict[str, object]:
    return {
        "instance_id": name,
        "repo": repo,
        "base_commit": head,
        "problem_statement": f"{title}\nmore",
        "gold_files": [path],
        "gold_functions": [f"{path}::{function}"],
        "splits": splits,
    }


def _run(instances: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "bench/localization.py", "--instances", str(instances)]
    command += ["--repos", str(instances.parent / "repos"), "--split", "Lite", "--processes", "1"]
    command += ["--cache", str(instances.parent / "cache"), *more]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_json(instances: Path) -> None:
    """Percentages of both ways, how many have a function to find, and what was skipped."""
    done = _run(instances, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n"], found["n_with_function"], found["skipped"]) == (2, 1, {"o/gone": 1})
    assert found["prism"]["file@1"] == found["bm25"]["file@1"] == 100.0
    assert found["prism"]["function_all@1"] == 100.0
    assert found["prism"]["function_strict@5"] == 50.0
    assert set(found["prism"]) == set(found["bm25"])
    tables = _run(instances, "--by-repo", "--ablation").stdout
    assert "2 instances, 1 of them with a known function" in tables
    assert "| o/shop | 2 | 100.0 | 100.0 |" in tables
    assert "| all weights equal |" in tables


def test_nothing_to_try(instances: Path) -> None:
    """Without any mirror the run says so and fails."""
    mirror = instances.parent / "repos" / "o__shop.git"
    mirror.rename(mirror.with_name("x.git"))
    done = _run(instances)
    assert done.returncode == 1
    assert "o/shop: 2 instances skipped, no mirror or commit" in done.stderr


def test_splits(instances: Path) -> None:
    """A split is named in any case; without one all instances are read."""
    assert [each.name for each in read(instances, "X")] == ["b", "d"]
    assert len(read(instances)) == 4


def test_ranks() -> None:
    """A second definition counts for its name; what is not in the list is nowhere."""
    ranks = first_ranks([Scored("a.py:f#2", 2, {}), Scored("a.py:f", 1, {}), Scored("b.py", 0, {})])
    assert ranks == {"a.py::f": 1, "b.py::": 3}
    assert best(ranks, ["c.py::", "b.py::"]) == 3
    assert worst(ranks, ["c.py::", "b.py::"]) == NOWHERE
