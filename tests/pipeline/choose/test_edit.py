"""What a patch changes: files, definitions, pieces; and what it leaves lying about."""

import difflib

import pytest

from pipeline.choose.edit import edit_of
from pipeline.choose.litter import litter
from pipeline.values import Edit

PYTHON = """import os


class Cart:
    def total(self):
        return sum(self.items)

    def count(self):
        return len(self.items)


def helper():
    return 1
"""
SCRIPT = """export class Cart {
  total() {
    return this.items.length;
  }
}
"""


def diff(path: str, before: str, after: str) -> str:
    """A patch of one file as git writes it."""
    head = f"diff --git a/{path} b/{path}\n" + ("" if before else "new file mode 100644\n")
    old = f"a/{path}" if before else "/dev/null"
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, f"b/{path}")
    return head + "".join(lines)


async def edited(path: str, before: str, after: str) -> Edit:
    """The edit of one file."""
    return await edit_of(diff(path, before, after), {path: before or None}, {path: after})


async def test_definitions_around_changed_lines_are_named() -> None:
    """Before for what goes, after for what comes; a comment in another one does not count."""
    after = PYTHON.replace("sum(self.items)", "sum(i.price for i in self.items)")
    edit = await edited("a.py", PYTHON, after.replace("    return 1", "    # one\n    return 1"))
    assert edit.files == ("a.py",)
    assert edit.symbols == ("a.py:Cart.total",)
    moved = await edited("a.py", PYTHON, PYTHON.replace("helper", "assist"))
    assert moved.symbols == ("a.py:assist", "a.py:helper")
    outside = await edited("a.py", PYTHON, PYTHON + "X = 1\n")
    assert outside.symbols == ("a.py:",)


async def test_other_languages_have_definitions_too() -> None:
    """The index's readers know them; pieces are lines there."""
    edit = await edited("a.js", SCRIPT, SCRIPT.replace("length", "size"))
    assert edit.symbols == ("a.js:Cart.total",)
    assert len(edit.pieces) == 2


async def test_comments_and_layout_are_no_edit() -> None:
    """Nothing is left: no key, no file, no piece."""
    assert await edited("a.py", PYTHON, PYTHON.replace("import os\n", "import os  # x\n")) == Edit(
        ""
    )


async def test_pieces_are_shared_in_part() -> None:
    """Two fixes of one call share the statement that goes."""
    one = await edited("a.py", PYTHON, PYTHON.replace("sum(self.items)", "sum(self.all())"))
    other = await edited("a.py", PYTHON, PYTHON.replace("sum(self.items)", "sum(self.own())"))
    common = {piece for piece, _ in one.pieces} & {piece for piece, _ in other.pieces}
    assert common
    assert one.key != other.key


async def test_without_its_base_a_patch_counts_by_its_lines() -> None:
    """Files and pieces are there, definitions are unknown, and the place does not matter."""
    after = PYTHON.replace("sum(self.items)", "sum(self.all())")
    patch = diff("a.py", PYTHON, after)
    edit = await edit_of(patch, {}, {})
    assert edit.files == ("a.py",)
    assert edit.symbols == ()
    assert len(edit.pieces) == 2
    lower = diff("a.py", "\n" + PYTHON, "\n" + after)
    assert (await edit_of(lower, {}, {})).key == edit.key != ""


@pytest.mark.parametrize(
    "head", ["old mode 100644\nnew mode 100755\n", "rename from a\nrename to b\n"]
)
async def test_modes_and_moves_have_a_key(head: str) -> None:
    """A patch without a hunk is a change all the same."""
    names = "a/a b/b" if "rename" in head else "a/a b/a"
    edit = await edit_of(f"diff --git {names}\n{head}", {"a": "x", "b": None}, {"a": "x", "b": "x"})
    assert edit.key
    assert edit.pieces == ()


def test_scripts_of_the_way_are_litter() -> None:
    """New files at the top or named like a try, unless the fix itself names them."""
    fix = diff("shop/cart.py", PYTHON, PYTHON.replace("import os", "import os, prices"))
    notes = [
        diff(path, "", "x = 1\n") for path in ("reproduce.py", "tmp/a_try.py", "shop/debug_it.py")
    ]
    kept = [diff(path, "", "x = 1\n") for path in ("prices.py", "shop/money.py")]
    found = litter(fix + "".join([*notes, *kept]))
    assert found == {"reproduce.py", "tmp/a_try.py", "shop/debug_it.py"}
