"""The right place wins in a small repository, in every language alike, and says why."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.index.build import build
from pipeline.index.rank import weights
from pipeline.index.rank.prepare import Prepared, prepare
from pipeline.index.rank.rank import fuse, measure, rank, rank_prepared
from pipeline.index.rank.seeds import seed_text
from pipeline.index.store import open_index
from tests.indexed import commit, indexed, objects_of

FILES = {
    "shop/cart.py": '''
class Cart:
    """What a customer is about to buy."""

    def total(self):
        """Sum of prices, after discounts."""
        return sum(item.price for item in self.items) - discount_of(self)

    def add(self, item):
        if item is None:
            raise ValueError("cannot add nothing to a cart: %s" % item)
        self.items.append(item)
''',
    "shop/discounts.py": '''
from shop.cart import Cart

def discount_of(cart):
    """How much less a cart costs."""
    return percentage_rules(cart)

def percentage_rules(cart):
    return 0
''',
    "shop/stock.py": """
class Stock:
    def reserve(self, item, count):
        self.levels[item] -= count
""",
    "shop/__init__.py": "from .cart import Cart\nfrom .stock import Stock\n",
    "docs/examples/cart_total.py": "def cart_total_example():\n    Cart().total()\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\ndef test_total():\n    Cart().total()\n",
    "web/basket.js": """
export class Basket {
  renderTotals(rows) { return formatCurrency(rows); }
}
export function formatCurrency(rows) { return rows.join(""); }
""",
    "empty.py": "",
    "broken.py": "def (:\n",
}
ISSUES = [
    ("Cart.total ignores discounts", "The total is too high.", "shop/cart.py", "Cart.total"),
    ("Stock levels negative", "`reserve` twice goes below 0", "shop/stock.py", "Stock.reserve"),
    ("Crash", "ValueError: cannot add nothing to a cart: None", "shop/cart.py", "Cart.add"),
    (
        "It crashes",
        'File "/x/site-packages/shop/discounts.py", line 9, in percentage_rules\n  boom',
        "shop/discounts.py",
        "percentage_rules",
    ),
    (
        "Basket: wrong totals",
        "at Basket.renderTotals (/app/web/basket.js:3:9)",
        "web/basket.js",
        "Basket.renderTotals",
    ),
    (
        "Look here",
        "https://github.com/o/r/blob/abc1234/shop/stock.py#L3-L4",
        "shop/stock.py",
        "Stock.reserve",
    ),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """The arrays of the small repository."""
    with indexed(tmp_path_factory.mktemp("shop"), FILES) as index:
        yield prepare(index)


@pytest.mark.parametrize(("title", "body", "path", "name"), ISSUES)
def test_the_right_place_wins(shop: Prepared, title: str, body: str, path: str, name: str) -> None:
    """File and function are first for what the issue says of them."""
    ranking = rank_prepared(shop, title, body)
    assert ranking.files[0].id == path
    assert ranking.functions[0].id == f"{path}:{name}"


@pytest.mark.parametrize(("title", "body", "path", "name"), ISSUES)
def test_equal_weights_come_close(
    shop: Prepared, title: str, body: str, path: str, name: str
) -> None:
    """The signals carry the ranking, not the weights: with all weights equal it is in the top 3."""
    ranking = fuse(
        shop.arrays,
        measure(shop, title, body),
        weights.equal(weights.FILE),
        weights.equal(weights.UNIT),
    )
    assert path in [each.id for each in ranking.files[:3]]
    assert f"{path}:{name}" in [each.id for each in ranking.functions[:3]]


def test_every_signal_has_a_weight(shop: Prepared) -> None:
    """No signal is measured in vain, and no weight stands for a signal that is not there."""
    measured = measure(shop, "Cart", "total")
    chosen_later = {"score of its file", "rank of its file", "is a class", "is outside definitions"}
    assert set(measured.file) == set(weights.FILE)
    assert set(measured.unit) | chosen_later == set(weights.UNIT)


def test_parts_add_up(shop: Prepared) -> None:
    """What a person is shown is what the score is made of."""
    ranking = rank_prepared(shop, "Cart.total ignores discounts", "too high")
    for each in (*ranking.files, *ranking.functions):
        assert sum(each.parts.values()) == pytest.approx(each.score, abs=0.02)
    assert 0 < ranking.confidence <= 1


def test_tests_are_no_candidates(shop: Prepared) -> None:
    """A fix is not looked for in tests; every other source file is ranked."""
    ranked = {each.id for each in rank_prepared(shop, "test_total", "tests/test_cart.py").files}
    assert ranked == set(FILES) - {"tests/test_cart.py"}


@pytest.mark.parametrize(("title", "body"), [("", ""), ("\0", "\udcff"), ("x" * 9000, "(" * 9000)])
def test_any_issue(shop: Prepared, title: str, body: str) -> None:
    """An empty or senseless issue still gets a ranking."""
    assert len(rank_prepared(shop, title, body).files) == len(FILES) - 1


def test_no_source(tmp_path: Path) -> None:
    """A repository without source is ranked as empty."""
    with indexed(tmp_path, {"README": "x"}) as index:
        ranking = rank(index, "a", "b")
    assert (ranking.files, ranking.functions, ranking.confidence) == ((), (), 0.0)
    assert seed_text(ranking) == ""


def test_second_definitions(tmp_path: Path) -> None:
    """Ids of a second definition of one name are those that the index has."""
    text = "class A:\n    def p(self): getter\n    def p(self, v): setter\n"
    with indexed(tmp_path, {"a.py": text}) as index:
        ranked = {each.id for each in rank(index, "A.p", "setter").functions}
        assert ranked == {each.id for each in index.units("a.py") if each.kind == "function"}


def test_kept_by_blob(tmp_path: Path) -> None:
    """A second commit counts only what changed, and ranks like a store made for it alone."""
    first = commit(tmp_path / "r", FILES)
    changed = {"shop/stock.py": "class Stock:\n    def release(self):\n        pass\n"}
    second = commit(tmp_path / "r", changed, "release stock")
    told: list[tuple[int, int]] = []
    with objects_of(tmp_path / "r") as objects:
        for each in (first, second):
            build(objects, each, tmp_path / "one", workers=1)
        with open_index(tmp_path / "one", first, objects) as index:
            prepare(index)
        with open_index(tmp_path / "one", second, objects) as index:
            one = rank_prepared(
                prepare(index, lambda *now: told.append(now)), "Stock.release", "see stock"
            )
        build(objects, second, tmp_path / "two", workers=1)
        with open_index(tmp_path / "two", second, objects) as index:
            assert rank(index, "Stock.release", "see stock") == one
    assert told == [(1, 1)]


def test_seed_text(shop: Prepared) -> None:
    """The seed names the best places with reasons, on one line each."""
    ranking = rank_prepared(shop, "Cart.total ignores discounts", "The total is too high.")
    lines = seed_text(ranking, 2, 1).splitlines()
    assert lines[1].startswith("1. shop/cart.py (words in ")
    assert lines[-1].startswith("1. shop/cart.py:Cart.total (")
    assert len(lines) == 5
