"""The nearest tests first, by the index where there is one, and as many as there is time for."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pipeline.evidence.bench import Bench
from pipeline.evidence.order import Order, measured, order_tests
from sandbox.base import Environment, EnvironmentPlan, SuiteRunner, TestRun
from tests.fakes import MemorySource
from tests.indexed import indexed
from tests.pipeline.evidence.small_repository import FILES, MakeSetting
from tests.pipeline.evidence.test_near import Opened

SHOP = {
    "shop/cart.py": "class Cart:\n    def checkout(self):\n        return self.total\n",
    "shop/stock.py": "def reserve(item): return item\n",
    "shop/tests/test_other.py": "def test_c(): assert 1\n",
    "tests/test_a.py": "def test_a(): assert 1\n",
    "tests/test_words.py": "from shop.cart import Cart\ndef test_b(): Cart().checkout()\n",
    "tests/test_stock.py": "from shop.stock import reserve\ndef test_d(): reserve(1)\n",
}
IDS = {
    "shop/tests/test_other.py::test_c": 1,
    "tests/test_a.py::test_a": 1,
    "tests/test_words.py::test_b": 1,
    "tests/test_stock.py::test_d": 1,
}


def bench_of(runner: SuiteRunner, ids: list[str], files: dict[str, str]) -> Bench:
    """A bench whose base run took 100 seconds."""
    run = TestRun(dict.fromkeys(ids, "pass"), 0, 100.0, timed_out=False, structured=True, output="")
    plan = EnvironmentPlan("python", (), "x", runner, "test")
    environment = Environment("", plan, run, run, 0.0, "")
    return Bench(MemorySource(files), environment, NotImplemented)


async def test_by_the_index(tmp_path: Path) -> None:
    """What uses the edited definition, then the same folder, then the rest; time by tests."""
    bench = bench_of("pytest", list(IDS), SHOP)
    with indexed(tmp_path, SHOP) as index:
        order = await order_tests(Opened(index), bench, ["shop/cart.py:Cart.checkout"])
    assert order.files == (
        ("tests/test_words.py", 25.0),
        ("shop/tests/test_other.py", 25.0),
        ("tests/test_a.py", 25.0),
        ("tests/test_stock.py", 25.0),
    )
    assert order.near == 1


async def test_without_an_index() -> None:
    """The test named like the edited file, then the same folder, then the rest."""
    bench = bench_of("pytest", list(IDS), SHOP)
    for index in (None, Opened(None)):
        order = await order_tests(index, bench, ["shop/stock.py:reserve"])
        assert [path for path, _ in order.files] == [
            "tests/test_stock.py",
            "shop/tests/test_other.py",
            "tests/test_a.py",
            "tests/test_words.py",
        ]
        assert order.near == 1


async def test_ids_that_name_no_file() -> None:
    """Of packages and crates every test file counts the same."""
    files = {"a/x.go": "", "a/x_test.go": "", "b/y_test.go": ""}
    bench = bench_of("go", ["m/a::TestX", "m/a::TestZ", "m/b::TestY"], files)
    order = await order_tests(None, bench, ["a/x.go"])
    assert order.files == (("a/x_test.go", 50.0), ("b/y_test.go", 50.0))


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(-10, 1000), st.data())
def test_what_fits(costs: list[float], seconds: float, data: st.DataObject) -> None:
    """At least one file, no more than fit beside it, and all when all of them fit."""
    order = Order(tuple((str(n), cost) for n, cost in enumerate(costs)), 0)
    start = data.draw(st.integers(0, len(costs) - 1))
    end = order.within(seconds, start)
    assert start < end <= len(costs)
    if end - start > 1:
        assert sum(costs[start:end]) <= seconds + 1e-6
    if sum(costs[start:]) < seconds - 1e-6:
        assert end == len(costs)


async def test_more_is_run_while_time_remains(bench: MakeSetting) -> None:
    """A part is what passes on the base that way; estimates are put right by what was seen."""
    setting = bench({**FILES, "tests/test_more.py": "def test_more():\n    assert True\n"})
    environment = await setting.environment()
    held = Bench(setting.source, environment, setting.open_workspace)
    slow = Order((("tests/test_shop.py", 9.0), ("tests/test_more.py", 9.0)), 1)
    part = await measured(slow, held, 10.0)
    assert part.batches == (("tests/test_shop.py",), ("tests/test_more.py",))
    assert set(part.tests) == environment.stable_passes
    assert not part.odd
    first = await measured(slow, held, 10.0, slow.near)
    assert first.batches == (("tests/test_shop.py",),)
