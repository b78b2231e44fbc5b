"""What is known of a patch before anything runs."""

import pytest

from pipeline.evidence.static import static_check, undefined_names
from tests.fakes import MemorySource
from tests.pipeline.evidence.small_repository import FILES, make_patch


async def test_texts_before_and_after_are_given() -> None:
    """A patch that applies leaves both texts of every file it touches."""
    after = FILES["shop.py"].replace("else None", "else 0")
    new = {"shop.py": after, "extra.py": "x = 1\n"}
    checked = await static_check(make_patch(FILES, new), MemorySource(FILES))
    assert (checked.applies, checked.parses, checked.note) == (True, True, "")
    assert checked.before == {"shop.py": FILES["shop.py"], "extra.py": None}
    assert checked.after == new


@pytest.mark.parametrize(
    ("files", "applies"),
    [
        ({"shop.py": "another\n"}, False),
        ({}, False),
        ({**FILES, "extra.py": ""}, False),
        (FILES, True),
    ],
)
async def test_a_patch_for_another_base_does_not_apply(
    files: dict[str, str], applies: bool
) -> None:
    """Files that moved on, are missing or exist already are named, nothing is guessed."""
    patch = make_patch(FILES, {"shop.py": "def total(items):\n    return 1\n", "extra.py": "x\n"})
    checked = await static_check(patch, MemorySource(files))
    assert checked.applies is applies
    assert applies or ".py" in checked.note


@pytest.mark.parametrize(
    ("path", "before", "after", "parses"),
    [
        ("a.py", "x = 1\n", "def f(:\n", False),
        ("a.py", "print 'old'\n", "print 'new'\n", True),
        ("a.js", "f()\n", "function (\n", False),
        ("a.txt", "f()\n", "def f(:\n", True),
    ],
)
async def test_a_file_that_stops_parsing_is_named(
    path: str, before: str, after: str, parses: bool
) -> None:
    """What never parsed, or is no language of ours, is not held against the patch."""
    files = {path: before}
    checked = await static_check(make_patch(files, {path: after}), MemorySource(files))
    assert checked.applies
    assert checked.parses is parses
    assert parses or path in checked.note


@pytest.mark.parametrize(
    ("files", "after", "found"),
    [
        ({"a.py": "x = 1\n"}, "x = np.array([1])\n", ("np (a.py)",)),
        ({}, "x = np.array([1])\n", ("np (a.py)",)),
        ({"a.py": "x = np.zeros(1)\n"}, "x = np.array([1])\n", ()),
        ({"a.py": "x = 1\n"}, "x = 2\n", ()),
        ({"a.py": "x = 1\n", "b.py": "import builtins\nbuiltins.np = 1\n"}, "x = np\n", ()),
        ({"a.py": "x = 1\n", "b.py": "import builtins\n"}, "x = np\n", ("np (a.py)",)),
    ],
)
async def test_names_that_a_patch_leaves_undefined(
    files: dict[str, str], after: str, found: tuple[str, ...]
) -> None:
    """Not what the base uses in the same way, and not what some file makes a built-in name."""
    source = MemorySource(files)
    checked = await static_check(make_patch(files, {"a.py": after}), source)
    assert await undefined_names(checked, ["a.py"], source) == found
    assert await undefined_names(checked, [], source) == ()
