"""Which patches are the same change."""

import ast
import difflib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.choose.lines import normal_lines
from pipeline.choose.normalise import changed_units, key

BASE = '''"""Module."""

import os

LIMIT = 1


class Cart:
    """A cart."""

    def __init__(self, items):
        self.items = items

    def total(self):
        # sum it up
        return sum(self.items)

    def count(self):
        return len(self.items)
'''


def keyed(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> str:
    """The key of the change from one tree to another, with a diff made here."""
    patch = ""
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        head = f"diff --git a/{path} b/{path}\n"
        if old is None:
            head += "new file mode 100644\n"
        if new is None:
            head += "deleted file mode 100644\n"
        names = (
            "/dev/null" if old is None else f"a/{path}",
            "/dev/null" if new is None else f"b/{path}",
        )
        lines = difflib.unified_diff(
            *(split(text or "") for text in (old, new)), *names, n=3, lineterm="\n"
        )
        body = "".join(
            line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
            for line in lines
        )
        patch += head + body
    return key(patch, before, after)


def split(text: str) -> list[str]:
    """Lines that end at a line feed only."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def python(after: str, before: str = BASE, path: str = "shop/cart.py") -> str:
    """The key of a change of one Python file."""
    return keyed({path: before}, {path: after})


FIX = BASE.replace("return sum(self.items)", "return sum(i.price for i in self.items)")


@pytest.mark.parametrize(
    "same",
    [
        FIX.replace("# sum it up", "# add the prices"),
        FIX.replace("        # sum it up\n", "\n\n"),
        FIX.replace("def total(self):\n", 'def total(self):\n        """All prices."""\n'),
        FIX.replace('"""A cart."""', "'''The cart.'''"),
        FIX.replace("sum(i.price for i in self.items)", "sum( i.price  for i in (self.items) )"),
        FIX.replace("sum(i.price for i in self.items)", "sum(\n  i.price for i in self.items\n  )"),
        FIX.replace("\n", "\r\n"),
    ],
)  # fmt: skip
def test_comments_docstrings_and_layout_do_not_count(same: str) -> None:
    """Patches that differ in comments, blank lines, docstrings or line breaks have one key."""
    assert python(same) == python(FIX) != ""


def test_quotes_do_not_count() -> None:
    """The same string in other quotes is the same change."""
    assert python(BASE + "NAME = 'x'\n") == python(BASE + 'NAME = u"x"\n')


@pytest.mark.parametrize(
    "other",
    [
        FIX.replace("i.price for", "i.cost for"),
        FIX.replace("LIMIT = 1", "LIMIT = 2"),
        BASE.replace("return len(self.items)", "return sum(i.price for i in self.items)"),
        FIX.replace("import os\n", "import os\nimport sys\n"),
        FIX.replace("class Cart:", "class Cart(dict):"),
        FIX.replace("    def count(self):\n        return len(self.items)\n", ""),
        FIX.replace("    def count", "def count").replace("        return len", "    return len"),
    ],
)
def test_any_other_edit_is_another_key(other: str) -> None:
    """Another token, place, import or base class is another change."""
    assert python(other) != python(FIX)


def test_indentation_that_changes_the_meaning_is_another_key() -> None:
    """A statement inside or after a loop is not the same patch."""
    before = "def f(a):\n    for x in a:\n        g(x)\n"
    inside = python(before + "        h()\n", before)
    assert inside != python(before + "    h()\n", before)


def test_the_same_edit_in_two_files_is_two_keys() -> None:
    """The path is part of what a patch does, in Python and elsewhere."""
    assert python(FIX, path="a.py") != python(FIX, path="b.py")
    one = keyed({"a.js": "x\n"}, {"a.js": "y\n"})
    assert one != keyed({"b.js": "x\n"}, {"b.js": "y\n"})


def test_where_a_new_function_was_put_does_not_count() -> None:
    """Definitions are named, so their order in the file is not part of the key."""
    new = "\n\ndef helper():\n    return 1\n"
    assert python(BASE + new) == python(BASE.replace("\n\nclass", new + "\n\nclass"))


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", BASE, BASE.replace("# sum it up", "# sum")),
        ("a.py", BASE, BASE.replace('"""Module."""', '"""Text."""')),
        ("a.js", "a = 1; // one\n", "a = 1;\n"),
        ("a.js", "/* one\n two */\nf( a );\n", "f(a);\n"),
        ("a.ts", "f(a)\n", "  f(a)\n\n"),
        ("a.sh", "x # y\n", "x\n"),
        ("a.yml", "a:\n  # why\n  b: 1\n", "a:\n  b: 1\n"),
        ("a.txt", "x\n", "x \n"),
    ],
)
def test_a_patch_of_nothing_has_no_key(path: str, before: str, after: str) -> None:
    """A change of comments or layout alone leaves nothing, which is the empty key."""
    assert keyed({path: before}, {path: after}) == ""


@pytest.mark.parametrize(
    ("path", "one", "other"),
    [
        ("a.js", "s = 'a  b'\n", "s = 'a b'\n"),
        ("a.js", "s = 'a' // b\n", "s = 'a // b'\n"),
        ("a.js", "u = `http://a`\n", "u = `http://b`\n"),
        ("a.js", "r = /[/'\"]/ // x\n", "r = /[/'\"]y/ // x\n"),
        ("a.jsx", "<a>http://a</a>\n", "<a>http://b</a>\n"),
        ("a.js", "a - -b\n", "a --b\n"),
        ("a.js", "return x\n", "returnx\n"),
        ("a.sh", "[ -f x ]\n", "[-f x]\n"),
        ("a.sh", "echo ${a#b}\n", "echo ${a#c}\n"),
        ("a.yml", "a:\n  b: 1\n", "a:\nb: 1\n"),
        ("a.css", "a {c: url(//x)}\n", "a {c: url(//y)}\n"),
        ("a.html", "<b>a</b> c\n", "<b>a</b>c\n"),
        ("Makefile", "a:\n\tb\n", "a:\nb\n"),
        ("a.py", "def f(:\n  a\n", "def f(:\na\n"),
    ],
)
def test_what_may_matter_is_kept(path: str, one: str, other: str) -> None:
    """Where a language is not parsed, doubt keeps two patches apart."""
    before = {path: "old\n"}
    assert keyed(before, {path: one}) != keyed(before, {path: other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if (a) {\n  b()\n}\n", "if(a){\n    b() // now\n}\n"),
        ("f(a, b)\n", "/* why */ f( a,b )\n"),
        ("f(a)\n\n\ng(b)\n", "f(a)\n// then\ng(b)\n"),
    ],
)
def test_layout_of_javascript_does_not_count(one: str, other: str) -> None:
    """Comments, blank lines and spaces between tokens are layout."""
    before = {"a.js": "old()\nkeep()\n"}
    keys = {keyed(before, {"a.js": text + "keep()\n"}) for text in (one, other)}
    assert len(keys) == 1
    assert "" not in keys


def test_the_same_line_at_another_place_is_another_key() -> None:
    """Outside Python a block is named by its place among the lines that count."""
    before = "a()\n\nb()\n"
    first = keyed({"x.js": before}, {"x.js": "a()\nn()\n\nb()\n"})
    assert first == keyed({"x.js": before}, {"x.js": "a()\n\n// why\nn()\nb()\n"})
    assert first != keyed({"x.js": before}, {"x.js": "a()\n\nb()\nn()\n"})


def test_files_made_deleted_and_switched_count() -> None:
    """An empty new file, a deleted one and a mode are changes of their own."""
    made = keyed({}, {"a/__init__.py": ""})
    gone = keyed({"a.py": BASE}, {"a.py": None})
    head = "diff --git a/a.sh b/a.sh\nold mode 100755\nnew mode 100644\n"
    mode = key(head, {"a.sh": "x"}, {"a.sh": "x"})
    assert len({made, gone, mode, ""}) == 4


def test_changed_units_are_named() -> None:
    """Class, method and module level have names; a file that is not Python has none."""
    assert changed_units("a.py", BASE, FIX) == {"Cart.total"}
    assert changed_units("a.py", BASE, BASE.replace("LIMIT = 1", "LIMIT = 2")) == {""}
    assert changed_units("a.py", None, "def f(): pass\n") == {"f"}
    assert changed_units("a.js", "x", "y") == frozenset()


def test_text_that_upsets_the_parser_falls_back_to_lines() -> None:
    """Null bytes, deep nesting and syntax of another version still give keys that differ."""
    for text in ("x = '\0'\n", "x = " + "(" * 5_000 + "\n", "match x:\n", "print 'x'\n"):
        assert python("a = 1\n" + text, text) != python("a = 2\n" + text, text) != ""


names = st.sampled_from(["a", "b", "g"])
expressions = st.recursive(
    names | st.integers(0, 3).map(str) | st.sampled_from(["'s'", '"s"', "''"]),
    lambda inner: st.builds("({} + {})".format, inner, inner) | st.builds("g({})".format, inner),
    max_leaves=6,
)
statements = st.builds("{} = {}\n".format, names, expressions) | st.builds(
    "def {}(x):\n    # why\n    '''Doc.'''\n    return {}\n".format, names, expressions
)
modules = st.lists(statements, max_size=5).map("".join)


@given(modules, modules)
def test_normalising_is_idempotent(before: str, after: str) -> None:
    """Printing a file anew from its syntax tree gives the key it had."""
    printed = ast.unparse(ast.parse(after)) + "\n"
    assert python(printed, before) == python(after, before)
    assert python(after, after) == python(printed, after) == ""


@given(
    st.text("ab \t\n/*'\"`#-+:;(){}[]\\=<>!.", max_size=80),
    st.sampled_from(["x.js", "x.c", "x.sh", "x.yml", "x.html", "x.lua", "x.txt", "x.go"]),
)
def test_normal_lines_keep_their_number_and_are_idempotent(text: str, path: str) -> None:
    """One line stays one line, and a second pass changes nothing but what it no longer sees."""
    lines = normal_lines(path, text)
    assert len(lines) == text.count("\n") + 1
    assert normal_lines(path, "\n".join(lines)) == lines
