"""What stands around the units that plans change."""

from collections.abc import Iterator

import pytest

from pipeline.explore.relations import related, relations_text
from pipeline.index.graph import build_graph
from pipeline.index.search import CodeSearch
from pipeline.values import Change, Plan, Solution
from tests.indexed import indexed

FILES = {
    "shop/base.py": "class Store:\n    def save(self, item):\n        return item\n",
    "shop/files.py": (
        "from shop.base import Store\n\n\nclass Files(Store):\n"
        "    def save(self, item):\n        return write(item)\n\n\n"
        "def write(item):\n    return item\n"
    ),
    "shop/memory.py": (
        "from shop.base import Store\n\n\nclass Memory(Store):\n"
        "    def save(self, item):\n        return item\n"
    ),
    "tests/test_write.py": "from shop.files import write\n\n\ndef test_it():\n    write(1)\n",
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodeSearch]:
    """The search of a shop with two kinds of stores."""
    with indexed(tmp_path_factory.mktemp("shop"), FILES) as index:
        yield CodeSearch(index, build_graph(index))


def plan(*changes: tuple[str, str]) -> Plan:
    """A plan that changes these places."""
    return Plan("s", Solution("r", "e", "m", ()), tuple(Change(p, "w", s) for p, s in changes))


def test_callers_overrides_and_siblings_are_found(code: CodeSearch) -> None:
    """A base method has its overrides, an override its siblings, a function its callers."""
    plans = {
        "G1": plan(("shop/base.py", "Store.save"), ("shop/files.py", "write")),
        "G2": plan(("shop/files.py", "Files.save"), ("shop/base.py", "Store.save")),
    }
    base, function, override = related(code, plans)

    assert (base.unit, base.changed_by) == ("shop/base.py:Store.save", ("G1", "G2"))
    assert base.overrides == ("shop/files.py:Files.save", "shop/memory.py:Memory.save")
    assert function.callers == ("shop/files.py:Files.save",)  # tests are no callers to change
    assert set(override.siblings) == {"shop/base.py:Store.save", "shop/memory.py:Memory.save"}


def test_what_only_exists_in_a_plan_has_no_surroundings(code: CodeSearch) -> None:
    """New files, unknown names and changes without a name are passed over."""
    plans = {"G1": plan(("new.py", "f"), ("shop/base.py", "Store.load"), ("shop/base.py", ""))}
    assert related(code, plans) == ()
    assert "(none known)" in relations_text(code, plans)
    assert "(none known)" in relations_text(None, plans)
