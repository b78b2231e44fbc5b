"""The measure of choosing: tolerant reading of patches, real base texts, and sums that add up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.vote_confidence import Choice, calibrated, out_of_fold
from bench.vote_patches import base_texts, place
from bench.vote_pool import read_pool
from bench.vote_rules import Pool, best
from bench.voting import draws_of, measured
from sandbox.patch.patch import apply, parse
from tests.indexed import commit, git

ROOT = Path(__file__).resolve().parents[2]
CART = "import os\n\n\nclass Cart:\n    def total(self):\n        return sum(self.items)\n"
FIXES = {
    "sum(i.price for i in self.items)": True,
    "sum(x.price for x in self.items)": True,
    "sum(map(float, self.items))": False,
    "self.items": False,
}


def patch(new: str, blob: str = "") -> str:
    """A patch of the cart as an agent leaves it: without git's heading, a line off, miscounted."""
    index = (
        f"diff --git a/shop/cart.py b/shop/cart.py\nindex {blob}..1234567 100644\n" if blob else ""
    )
    body = "     def total(self):\n-        return sum(self.items)\n"
    head = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -7,2 +7,2 @@ class Cart:\n"
    return f"\n{index}{head}{body}+        return {new}"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """Two instances of a repository with a mirror in `repos`, one of another, bad rows in all."""
    (tmp_path / "repos").mkdir()
    commit(tmp_path / "r", {"shop/cart.py": CART})
    git(tmp_path, "clone", "-q", "--bare", "r", "repos/o__shop.git")
    blob = git(tmp_path / "r", "rev-parse", "HEAD:shop/cart.py").strip()[:8]
    rows = []
    for name in ("o__shop-1", "o__shop-2", "o__gone-3"):
        patches = [patch(new, blob) for new in FIXES]
        patches += ["", "no patch", "diff --git a/x b/x\n@@ -1 +1 @@\n-a\n", patch("0").lstrip()]
        rows += [
            {
                "instance_id": name,
                "candidate": number,
                "source": "AB"[number % 2],
                "patch": text,
                "applies": bool(text),
                "parses": None,
                "resolved": number < 2,
            }
            for number, text in enumerate(patches)
        ]
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_loose_patch_is_put_where_it_fits(tmp_path: Path, pool: Path) -> None:
    """It becomes one that git would write, and gives the text that it means."""
    blob = git(tmp_path / "r", "rev-parse", "HEAD:shop/cart.py").strip()[:8]
    bases = base_texts(tmp_path / "repos/o__shop.git", [patch("x", blob), patch("x", "0123456")])
    assert bases == {"shop/cart.py": [CART]}
    placed = place(patch("1"), bases)
    (part,) = parse(placed.patch)
    assert placed.after == {
        "shop/cart.py": CART.replace("sum(self.items)", "1").rstrip("\n") + "\n"
    }
    assert apply(part, CART) == placed.after["shop/cart.py"]
    assert place(patch("1"), {}).after == {}


def test_equal_changes_share_a_key_and_their_places_are_known(tmp_path: Path, pool: Path) -> None:
    """With a mirror definitions are known and other names of a variable are one change."""
    first, _, gone = read_pool(pool, tmp_path / "repos")
    assert [each.valid for each in first.voters.values()] == [True] * 4 + [False] * 2 + [True] * 2
    assert first.voters[0].edit.key == first.voters[1].edit.key != first.voters[2].edit.key
    assert first.voters[0].edit.symbols == ("shop/cart.py:Cart.total",)
    assert gone.voters[0].valid
    assert gone.voters[0].edit.symbols == ()


def test_a_report_adds_up(tmp_path: Path, pool: Path) -> None:
    """Two of four right, the only ones that agree: found by every vote; by chance in a third."""
    pools = [Pool(each) for each in read_pool(pool, tmp_path / "repos")][:2]
    report = measured(pools, draws_of(pools, {"o__shop-1": [[0, 1, 2, 3, 4]]}))
    assert report["n"] == 2
    assert report["rules"]["oracle"] == report["other_rules"]["majority_key"] == 100
    assert report["rules"]["random_static"] < report["rules"]["prism"] == 100
    assert set(report["surest"]) == {"10", "20", "30", "50"}
    assert report["identity"]["by_key_alone"] == {"pairs": 2, "same_label": 100}


def test_the_command_prints_the_json(tmp_path: Path, pool: Path) -> None:
    """As a script, without mirrors."""
    script = [sys.executable, "bench/voting.py", "--pool", str(pool), "--json"]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    wanted = {"prism", "random_static", "majority_ast", "majority_text", "trae_text", "medoid"}
    assert set(report["rules"]) == wanted | {"oracle"}
    assert report["n"] == 3


def test_confidence_is_judged_on_others() -> None:
    """Agreement that tells right from wrong gives high AUROC and sure choices; noise does not."""
    told = [
        Choice(f"i{n}", 4.0 if n % 3 == 0 else 1.0, 0.9, 0.5, float(n % 3 == 0)) for n in range(90)
    ]
    found = calibrated(out_of_fold(told))
    assert found.auroc == 1
    assert found.surest["30"] == 100
    assert found.brier < found.brier_constant
    low, high = found.ece_interval
    assert low <= high
    same = calibrated(out_of_fold([Choice(f"i{n}", 1, 1, 0.5, n % 2) for n in range(90)]))
    assert same.auroc < 0.6
    assert same.brier > same.brier_constant - 0.01


def test_ties_are_shared() -> None:
    """The best share the chance; rounding errors make no winner."""
    assert best({1: 0.1 + 0.2, 2: 0.3, 3: 0.1}) == {1: 0.5, 2: 0.5}
