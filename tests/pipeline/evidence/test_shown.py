"""The Test agent reads the tests that the issue is about, wherever they stand."""

from collections.abc import Mapping

from pipeline.evidence.shown import MAX_SOURCES, suite_block
from pipeline.values import Task
from tests.fakes import MemorySource

TASK = Task("1/shop", 1, "Discount of an empty cart", "discount_of([]) is None, not 0.", "0" * 40)
OTHER = "def test_other_{n}():\n" + "    assert convert_currency(1) == {n}\n" * 40
WANTED = (
    "class TestCart:\n    def test_discount_of_nothing(self):\n        assert not discount([])\n"
)


async def shown(files: Mapping[str, str], *tests: str, near: tuple[str, ...] = ()) -> str:
    """What is shown of these files when these tests pass."""
    return await suite_block(MemorySource(files), TASK, tests, near)


async def test_a_test_at_the_end_of_a_long_file_is_seen() -> None:
    """Hundreds of others stand before it; what is shown is bounded, and its id is named."""
    long = "import shop\n\n" + "\n\n".join(OTHER.format(n=n) for n in range(200)) + f"\n\n{WANTED}"
    others = [f"tests/test_all.py::test_other_{n}" for n in range(200)]
    wanted = "tests/test_all.py::TestCart::test_discount_of_nothing"
    text = await shown({"tests/test_all.py": long}, *others, wanted)
    assert "assert not discount([])" in text
    assert f"\n{wanted}\n" in text
    assert len(text) < MAX_SOURCES * 1.3 < len(long)
    ids = text.partition("</tests>")[0]
    assert 0 < ids.count("test_other_") < 200  # only those that can be read
    assert "\n…\n" in text


async def test_parameters_are_not_listed_one_by_one() -> None:
    """One name stands for all of them."""
    file = "def test_discount(x):\n    assert discount(x)\n"
    ids = [f"tests/test_a.py::test_discount[{n}]" for n in range(50)]
    text = await shown({"tests/test_a.py": file}, *ids)
    assert text.count("test_discount\n") == 1
    assert "test_discount[" not in text


async def test_tests_with_titles_are_listed_with_their_file() -> None:
    """No function bears their names; without a file that can be told they are listed as well."""
    file = (
        "function help() {}\n\ntest('discount of nothing', () => {\n  expect(d([])).toBe(0)\n})\n"
    )
    titled, lost = "cart.test.js > discount of nothing", "somewhere else"
    text = await shown({"cart.test.js": file}, titled, lost)
    assert titled in text
    assert lost in text
    assert "expect(d([]))" in text


async def test_a_suite_of_nothing_is_no_error() -> None:
    """Empty files and ids of none."""
    assert "<tests>" in await shown({"tests/test_a.py": ""}, "tests/test_a.py::test_a")
    assert "<tests>" in await shown({})
