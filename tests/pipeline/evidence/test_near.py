"""The Test agent reads the tests first that are near to what the issue is about."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from pipeline.evidence.near import near_tests
from pipeline.evidence.shown import suite_block
from pipeline.index.store import Index
from pipeline.values import Task
from tests.indexed import indexed

FILES = {
    "shop/cart.py": "class Cart:\n    def checkout(self):\n        return self.total\n",
    "shop/stock.py": "def reserve(item): return item\n",
    "tests/test_cart.py": "from shop.cart import Cart\ndef test_a(): Cart().checkout()\n",
    "tests/test_words.py": "# cart checkout empty wrong customer\ndef test_b(): assert 1\n",
}
TASK = Task("1/shop", 1, "Cart.checkout", "An empty cart is wrong for the customer.", "0" * 40)


@dataclass
class Opened:
    """An index that is ready, or one that could not be built."""

    index: Index | None

    async def opened(self) -> Index | None:
        """At once."""
        return self.index


@dataclass
class Texts:
    """The files as a source."""

    async def files(self) -> list[str]:
        """All paths."""
        return list(FILES)

    async def read(self, path: str) -> bytes | None:
        """One file."""
        return FILES[path].encode()


async def test_near_tests_come_first(tmp_path: Path) -> None:
    """A test of the ranked place stands before one that shares more words with the issue."""
    with indexed(tmp_path, FILES) as index:
        near = await near_tests(SimpleNamespace(index=Opened(index)), TASK)
    assert near == ["tests/test_cart.py"]
    ids = ["tests/test_cart.py::test_a", "tests/test_words.py::test_b"]
    by_words, by_place = (
        await suite_block(Texts(), TASK, ids),
        await suite_block(Texts(), TASK, ids, near),
    )
    assert by_words.index("# cart checkout") < by_words.index("from shop.cart")
    assert by_place.index("from shop.cart") < by_place.index("# cart checkout")


async def test_without_an_index() -> None:
    """Nothing is near when there is no index, and work goes on."""
    assert await near_tests(SimpleNamespace(index=None), TASK) == []
    assert await near_tests(SimpleNamespace(index=Opened(None)), TASK) == []
