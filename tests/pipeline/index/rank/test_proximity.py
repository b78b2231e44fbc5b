"""Tests near to a change come first, others not at all."""

from pathlib import Path

from pipeline.index.rank.proximity import nearest, nearest_tests
from pipeline.index.values import Call, Import, ParsedFile
from tests.indexed import indexed

FILES = {
    "shop/cart.py": "class Cart:\n    def checkout(self): pass\n    def refund(self): pass\n",
    "shop/stock.py": "def reserve(): pass\n",
    "tests/test_cart.py": "from shop.cart import Cart\ndef test_a(): Cart().checkout()\n",
    "tests/test_flow.py": "from shop.stock import reserve\nimport shop\n\n\ndef test_b():\n"
    "    cart = shop.make()\n    cart.refund()\n    reserve()\n",
    "tests/test_other.py": "def test_c(): assert 1\n",
}


def test_files(tmp_path: Path) -> None:
    """The mirrored test first, then what uses the names; unrelated ones are left out."""
    with indexed(tmp_path, FILES) as index:
        assert nearest_tests(index, ["shop/cart.py"], 10) == [
            "tests/test_cart.py",
            "tests/test_flow.py",
        ]
        assert nearest_tests(index, ["shop/stock.py"], 1) == ["tests/test_flow.py"]


def test_units(tmp_path: Path) -> None:
    """Of a unit only its own name counts beside its file."""
    with indexed(tmp_path, {**FILES, "tests/test_cart.py": "x = 1\n"}) as index:
        assert nearest_tests(index, ["shop/cart.py:Cart.refund"], 5)[-1] == "tests/test_flow.py"
        assert "tests/test_flow.py" not in nearest_tests(index, ["shop/cart.py:Cart.checkout"], 5)


def test_what_a_patch_changes(tmp_path: Path) -> None:
    """Changed and added tests first, added files by their names, in one order however asked."""
    changed = ["shop/cart.py", "tests/test_other.py", "shop/flow.py", "gone.py:A.b", "", "a:b:c"]
    with indexed(tmp_path, FILES) as index:
        found = nearest_tests(index, changed)
        assert found[0] == "tests/test_other.py"
        assert set(found) == {path for path in FILES if path.startswith("tests/")}
        assert nearest_tests(index, [*reversed(changed), *changed]) == found
        assert nearest_tests(index, changed, 2) == found[:2]
        assert nearest_tests(index, ["shop/flow.py"]) == ["tests/test_flow.py"]
        assert nearest_tests(index, []) == nearest_tests(index, ["gone.py"]) == []


def test_common_names_tell_less() -> None:
    """A name that every test calls does not outweigh one that a single test calls."""
    tests = {
        f"t{at}.js": ParsedFile("javascript", 1, calls=(Call("", "x.render", 1),))
        for at in range(9)
    }
    tests["rare.js"] = ParsedFile("javascript", 1, calls=(Call("", "x.refund", 1),))
    assert nearest(["lib/a.js"], ["render", "refund"], tests)[0] == "rare.js"


def test_other_languages() -> None:
    """`cart.test.ts` and an import by path lead to `cart.ts`, in whatever folder."""
    tests = {
        "src/cart.test.ts": ParsedFile("typescript", 1),
        "spec/flow.spec.ts": ParsedFile(
            "typescript", 1, imports=(Import("../src/cart", "Cart", "Cart", 1),)
        ),
        "spec/other.spec.ts": ParsedFile("typescript", 1),
    }
    assert nearest(["src/cart.ts"], [], tests) == ["src/cart.test.ts", "spec/flow.spec.ts"]
