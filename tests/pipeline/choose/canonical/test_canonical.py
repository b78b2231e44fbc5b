"""Level N4: what is the same change, what is another one, and that code still does what it did."""

import ast
import difflib
import re
import time
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.choose.canonical.canonical import canonical, rewritten
from pipeline.choose.canonical.units import changed, read_units
from pipeline.choose.normalise import key


def keyed(before: str, after: str) -> str:
    """The key of a patch that makes one file from another."""
    lines = difflib.unified_diff(
        before.splitlines(True), after.splitlines(True), "a/a.py", "b/a.py", n=0
    )
    patch = "diff --git a/a.py b/a.py\n" + "".join(lines)
    return key(patch, {"a.py": before}, {"a.py": after})


def function(body: str, head: str = "def f(a, b, c):") -> str:
    """A module with one function."""
    lines = "\n".join(f"    {line}" for line in body.split("\n"))
    return f"import os\n\n\n{head}\n{lines}\n"


BASE = function("raise NotImplementedError")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = g(a)\nh(x)\nreturn x", "y = g(a)\nh(y)\nreturn y"),
        ("return [x for x in a]", "return [item for item in a]"),
        ("for i, v in a:\n    g(i, v)\n    g(v)", "for n, x in a:\n    g(n, x)\n    g(x)"),
        (
            "try:\n    g()\nexcept OSError as e:\n    h(e)\n    raise",
            "try:\n    g()\nexcept OSError as error:\n    h(error)\n    raise",
        ),
        ("x: int = g(a)\nh(x, x)", "x = g(a)\nh(x, x)"),
        ("if not (a and b):\n    g()", "if not a or not b:\n    g()"),
        ("if not a is None:\n    g()", "if a is not None:\n    g()"),
        ("if not (a == b):\n    g()\nh()", "if a != b:\n    g()\nh()"),
        ("if a and b:\n    g()", "if b and a:\n    g()"),
        ("if a == 1 or b is None:\n    g()", "if b is None or a == 1:\n    g()"),
        ("return g(a > b)", "return g(b < a)"),
        ("return g(1 == a)", "return g(a == 1)"),
        ("if a == None:\n    g()", "if a is None:\n    g()"),
        (
            "if isinstance(a, int) or isinstance(a, str):\n    g()",
            "if isinstance(a, (str, int)):\n    g()",
        ),
        (
            "if not isinstance(a, int) and not isinstance(a, str):\n    g()",
            "if not isinstance(a, (int, str)):\n    g()",
        ),
        ("return a + (1 + 2)", "return a + 3"),
        ("return 'a' + 'b'", "return 'ab'"),
        ("a = a + 1\ng(a)", "a += 1\ng(a)"),
        ("a.n = a.n + 1", "a.n += 1"),
        ("return 'x %s y %r' % (a, b)", "return f'x {a} y {b!r}'"),
        ("return 'x {} y {}'.format(a, b)", "return f'x {a} y {b}'"),
        ("return '{0} {n}'.format(a, n=b)", "return f'{a} {b}'"),
        ("if a:\n    return b\nelse:\n    return c", "if a:\n    return b\nreturn c"),
        ("if a:\n    return b\nreturn c", "return b if a else c"),
        ("return c if not a else b", "return b if a else c"),
        ("if a:\n    x = b\nelse:\n    x = c\ng(x, x)", "x = b if a else c\ng(x, x)"),
        ("if not a:\n    return\ng(b)", "if a:\n    g(b)"),
        ("if a is None:\n    return None\ng(b)", "if a is not None:\n    g(b)"),
        (
            "for x in a:\n    if not x:\n        continue\n    g(x)",
            "for x in a:\n    if x:\n        g(x)",
        ),
        ("if a:\n    if b:\n        g()", "if a and b:\n    g()"),
        (
            "if a:\n    if g(b):\n        return c\nreturn b",
            "if a and g(b):\n    return c\nreturn b",
        ),
        (
            "if a:\n    return c\nif g(b):\n    return c\nreturn b",
            "if a or g(b):\n    return c\nreturn b",
        ),
        ("x = g(a)\nreturn x", "return g(a)"),
        ("x = a.b\nif x:\n    g()", "if a.b:\n    g()"),
        ("return g(dict(), list())", "return g({}, [])"),
        ("return dict(x=a)", "return {'x': a}"),
        ("pass\ng()\npass", "g()"),
    ],
)  # fmt: skip
def test_the_same_change_has_one_key(one: str, other: str) -> None:
    """Two ways of writing the same thing are one change."""
    assert keyed(BASE, function(one)) == keyed(BASE, function(other)) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("g(a)", "g(b)"),
        ("x = g(a)\ny = g(b)\nreturn x - y", "x = g(a)\ny = g(b)\nreturn y - x"),
        ("return a < b", "return b < a"),
        ("if not a < b:\n    g()", "if a >= b:\n    g()"),
        ("return a or b", "return b or a"),
        ("if a is not None and a.x:\n    g()", "if a.x and a is not None:\n    g()"),
        ("if a is not None and a > 1:\n    g()", "if a > 1 and a is not None:\n    g()"),
        ("return g(a) == h(b)", "return h(b) == g(a)"),
        ("a += [1]", "a = a + [1]"),
        ("return '%s' % a", "return '%s' % (a,)"),
        ("return '%5s' % (a,)", "return f'{a}'"),
        ("return '{1} {0}'.format(g(), h())", "return f'{h()} {g()}'"),
        ("x = g(a)\nh()\nreturn x", "h()\nreturn g(a)"),
        ("x = g(a)\nreturn h(b()) + x", "return h(b()) + g(a)"),
        ("x = g(a)\nreturn b and x", "return b and g(a)"),
        ("x = g(a)\nreturn [x for _ in b]", "return [g(a) for _ in b]"),
        ("if a:\n    g()\nh()", "if a:\n    g()\nelse:\n    h()"),
        (
            "for x in a:\n    if x:\n        break\n    g(x)",
            "for x in a:\n    if x:\n        continue\n    g(x)",
        ),
        ("raise ValueError('a')", "raise ValueError('b')"),
        ("assert a, 'x'", "assert a, 'y'"),
        ("import re\nreturn re", "import os as re\nreturn re"),
        ("x = a\nreturn locals()", "y = a\nreturn locals()"),
        ("global x\nx = a", "global y\ny = a"),
        ("while a:\n    g()", "if a:\n    g()"),
        ("x: int\nx = a\ng(x, x)", "g(a, a)"),
        ("if a:\n    g()\nelif b:\n    h()", "if a:\n    g()\nif b:\n    h()"),
    ],
)  # fmt: skip
def test_another_change_has_another_key(one: str, other: str) -> None:
    """What may do something else is never taken for the same."""
    assert keyed(BASE, function(one)) != keyed(BASE, function(other))


def test_parameters_and_attributes_keep_their_names() -> None:
    """Who calls a function or reads a class asks for these names."""
    assert keyed(BASE, function("return a")) != keyed(BASE, function("return d", "def f(d, b, c):"))
    one, other = (f"class A:\n    {name} = 1\n" for name in "xy")
    assert keyed("", one) != keyed("", other)


def test_a_rewrite_that_does_the_same_is_no_change() -> None:
    """A patch of nothing but wording has no key."""
    assert keyed(function("x = g(a)\nreturn x"), function("return g(a)")) == ""


def test_annotations_count_where_nothing_else_changes() -> None:
    """They may be what the issue asks for; beside another change they are wording."""
    typed = function("return a", "def f(a: int, b, c) -> int:")
    assert keyed(function("return a"), typed) != ""
    assert keyed(BASE, typed) == keyed(BASE, function("return a"))


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 3_000 + "1\n",
        "x = " + "a." * 30_000 + "a\n",
        "x = " + "+".join("1" * 20_000) + "\n",
        "x = " + " and ".join(["a"] * 8_000) + "\n",
        "def f(a):\n" + "".join(" " * n + "if a:\n" for n in range(1, 95)) + " " * 95 + "g()\n",
        "def f(a):\n" + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(2_000)),
        "def f(a):\n    if a: pass\n" + "".join(f"    elif a == {n}: g()\n" for n in range(300)),
        "def f(a):\n" + "".join(f"    x{n} = g(a)\n" for n in range(3_000)) + "    return x1\n",
        "x = '%s' % (" + "a, " * 9_000 + ")\n",
        "x = 2 * " + " * ".join(["9999999999999999"] * 900) + "\n",
    ],
)  # fmt: skip
def test_hostile_text_costs_little(text: str) -> None:
    """Deep and long syntax ends in a key, soon, and in no other way."""
    start = time.process_time()
    assert keyed(text, text + "y = 1\n") != keyed(text, text + "y = 2\n")
    assert keyed("", text) != ""
    assert time.process_time() - start < 10


names = st.sampled_from(["a", "b", "x", "y"])
values = st.one_of(names, st.integers(-1, 2).map(str), st.sampled_from(["None", "'s'", "seen(a)"]))
operators = st.sampled_from(["==", "!=", "is", "is not", "<"])
kinds = st.sampled_from(["int", "str", "(int, str)"])
tests = st.recursive(
    st.one_of(
        values,
        st.builds("({} {} {})".format, values, operators, values),
        st.builds("isinstance({}, {})".format, names, kinds),
    ),
    lambda inner: st.one_of(
        st.builds("(not {})".format, inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner),
    ),
    max_leaves=5,
)  # fmt: skip
simple = st.one_of(
    st.builds("{} = {}".format, names, st.one_of(values, tests)),
    st.builds("{} = {} if {} else {}".format, names, values, tests, values),
    st.builds("return {}".format, st.one_of(values, tests)),
    st.builds("return {} if {} else {}".format, values, tests, values),
    st.builds("seen({})".format, values),
    st.builds("seen('%s-{{}}' % ({},))".format, values),
    st.builds("seen('{{}}/{{}}'.format({}, {}))".format, values, values),
    st.sampled_from(["pass", "return", "raise KeyError(a)", "continue", "break"]),
)


def indented(text: str) -> str:
    """One level further in."""
    return "\n".join(f"    {line}" for line in text.split("\n"))


def block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Statements below each other, one level further in."""
    return st.lists(inner, min_size=1, max_size=3).map(lambda lines: indented("\n".join(lines)))


statements = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds("if {}:\n{}".format, tests, block(inner)),
        st.builds("if {}:\n{}\nelse:\n{}".format, tests, block(inner), block(inner)),
        st.builds("for x in (1, None, 's'):\n{}".format, block(inner)),
        # The name goes after the handler, and names are taken to be bound: it is no other's.
        st.builds("try:\n{}\nexcept KeyError as e:\n    seen('caught')".format, block(inner)),
    ),
    max_leaves=8,
)  # fmt: skip
bodies = st.lists(statements, min_size=1, max_size=5).map("\n".join)


def behaviour(tree: ast.Module, a: object, b: object) -> tuple[object, list[object]]:
    """What a function returns or raises, and what it was seen to do."""
    log: list[object] = []

    def seen(value: object) -> object:
        log.append(value)
        return value

    scope: dict[str, object] = {"seen": seen}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `0 is None`
        code = compile(tree, "f", "exec")
    exec(code, scope)  # made here, of harmless parts
    try:
        return scope["f"](a, b), log  # type: ignore[operator]  # the function
    except Exception as error:  # noqa: BLE001  # whatever it raises is what it does
        return type(error), log


@settings(max_examples=100, deadline=None)
@given(bodies, st.sampled_from([0, 1, "s", None]), st.sampled_from([0, 2, None]))
def test_the_canonical_form_does_what_the_code_does(body: str, a: object, b: object) -> None:
    """Run it: the same value or error, after the same acts in the same order."""
    text = f"def f(a, b):\n    x = y = 0\n{indented(body)}\n"
    try:
        plain = ast.parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(plain, "f", "exec")
    except SyntaxError:  # `continue` outside of a loop
        return
    units = read_units("f.py", text)
    assert units is not None
    tree = ast.Module(list(rewritten(units["f"][0], annotations=False).body), [])
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.For | ast.FunctionDef | ast.Try) and not node.body:
            node.body = [ast.Pass()]
        if isinstance(node, ast.ExceptHandler) and not node.body:
            node.body = [ast.Pass()]
    assert behaviour(ast.fix_missing_locations(tree), a, b) == behaviour(plain, a, b)


@settings(max_examples=60, deadline=None)
@given(bodies)
def test_locals_may_have_any_name(body: str) -> None:
    """Another name of a local gives the same form, whatever else is in the function."""
    text = f"def f(a, b):\n    x = y = 0\n{indented(body)}\n"
    units = read_units("f.py", text)
    if units is None:
        return
    once = canonical(units["f"])
    other = read_units("f.py", re.sub(r"\bx\b", "long", text))
    assert other is not None
    assert canonical(other["f"]) == once


def test_only_changed_units_are_compared() -> None:
    """A definition whose text is the same is not looked at."""
    found = changed("a.py", BASE + "def g():\n    return 1\n", BASE + "def g():\n    return 2\n")
    assert found is not None
    assert [name for name, _, _ in found] == ["g"]
