"""Right and wrong patches are counted apart, by whether they leave a name undefined."""

from pathlib import Path

from bench.names import counted
from tests.indexed import commit, git

CART = "import os\n\n\ndef total(items):\n    return sum(items)\n"


def row(new: str, blob: str, *, resolved: bool, path: str = "cart.py") -> dict[str, object]:
    """A candidate that changes the cart's one line."""
    text = (
        f"diff --git a/{path} b/{path}\nindex {blob}..1234567 100644\n--- a/{path}\n+++ b/{path}\n"
        f"@@ -4,2 +4,2 @@\n def total(items):\n-    return sum(items)\n+    return {new}\n"
    )
    return {"instance_id": "shop__cart-1", "patch": text, "resolved": resolved}


def test_names_are_counted_by_outcome(tmp_path: Path) -> None:
    """A right patch with such a name is a false alarm; what has no base says nothing."""
    commit(tmp_path / "work", {"cart.py": CART, "test_cart.py": CART})
    git(tmp_path / "work", "clone", "-q", "--bare", ".", str(tmp_path / "shop__cart.git"))
    blob = git(tmp_path / "work", "rev-parse", "HEAD:cart.py").strip()
    rows = [
        row("sum(items) + 0", blob, resolved=True),
        row("np.sum(items)", blob, resolved=True),
        row("np.sum(items)", blob, resolved=False),
        row("os.sum(items)", blob, resolved=False),
        row("np.sum(items)", blob, resolved=False, path="test_cart.py"),
        row("np.sum(items)", "f" * 40, resolved=False, path="other.py"),
    ]
    twice = f"{rows[1]['patch']}{rows[1]['patch']}"
    rows.append({**rows[1], "patch": twice})
    kinds, alarms = counted(rows, tmp_path)
    assert kinds == {
        "right": 1,
        "right, flagged": 1,
        "wrong": 1,
        "wrong, flagged": 1,
        "not placed": 3,
    }
    assert alarms == ["shop__cart-1: np (cart.py)"]
