"""A name that some system takes for another, hidden or reserved one is known as such."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.patch.names import folded, strange_name

SPELLINGS = [
    *map("".join, itertools.product(".", "gG\uff27", "i\u0131I\u0130", "t\uff54")),
    "\uff0egit",
    ".g\u2071t",
]


@pytest.mark.parametrize("name", [name for name in SPELLINGS if "\u0130" not in name])
def test_every_spelling_of_git_is_one(name: str) -> None:
    """Case, width and dots of letters do not tell two names apart."""
    assert folded(name) == ".git"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("GIT~1/config", "looks like"),
        (".git~2", "looks like"),
        ("GI7EBA~1/x", "looks like"),
        (".git /x", "looks like"),
        (".git./x", "looks like"),
        (".git:stream/x", "looks like"),
        ("GITHUB~1/workflows/x.yml", "short name"),
        ("LONGNA~1.TXT", "short name"),
        (".gi\u200ct/config", "invisible"),
        (".g\ufeffit/config", "invisible"),
        ("a\x00b", "control"),
        ("a\nb", "control"),
        ("a\u0085b", "control"),
        ("a\udcff", "UTF-8"),
        ("con", "reserved"),
        ("dir/Aux.txt", "reserved"),
        ("COM\u00b9", "reserved"),
        ("\uff23\uff2f\uff2e", "reserved"),
        ("x. ", "dot or a space"),
        ("x\uff1ay", "Windows"),
        ("x\uff0fy", "another one"),
        ("x/\u2025/y", "dot or a space|another one"),
        ("/x", "relative"),
        ("a/../x", "climbs"),
        ("", "empty part"),
        ("d/" * 200 + "x", "255 bytes"),
    ],
)
def test_a_strange_name_has_its_reason(path: str, rule: str) -> None:
    """Each kind of trick is named for what it is."""
    reason = strange_name(path)
    assert reason is not None
    assert any(each in reason for each in rule.split("|"))


@pytest.mark.parametrize(
    "path",
    ["a.py", "a b/c d.txt", "ä/ß.md", ".hidden", "x~", "backup.txt~1~", "-rf", "日本語/名.py", "a.."
     "b", "console", "git.py", "gitlab/x"],
)  # fmt: skip
def test_an_ordinary_name_is_one(path: str) -> None:
    """Spaces, other scripts and single odd characters are nobody's trick."""
    assert strange_name(path) is None


@given(st.text(max_size=300))
def test_any_name_gets_an_answer(path: str) -> None:
    """No name makes the check fail, and folding twice changes nothing more."""
    assert strange_name(path) is None or strange_name(path)
    assert folded(folded(path)) == folded(path)
