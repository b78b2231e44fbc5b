"""Names that nothing defines are facts: what might be defined is never named."""

import pytest

from pipeline.index.units import MAX_BYTES, undefined


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x = foo\n", {"foo"}),
        ("def f(a=b):\n    return c\n", {"b", "c"}),
        ("@dec\nclass A(Base): pass\n", {"dec", "Base"}),
        ("class A:\n    x = 1\n    def f(self): return x\n", {"x"}),
        ("print(f'{zz}')\n", {"zz"}),
        ("try:\n    foo()\nexcept ValueError:\n    pass\n", {"foo"}),
        ("try:\n    pass\nexcept NameError:\n    foo()\n", {"foo"}),
    ],
)
async def test_what_fails_once_it_is_reached(text: str, names: set[str]) -> None:
    """Defaults, decorators, bases, f-strings and names of a class that its methods do not see."""
    assert await undefined("a.py", text) == names


@pytest.mark.parametrize(
    "text",
    [
        "from a import *\nx = foo\n",
        "def f():\n    global g\n    g = 1\n\ndef h(): return g\n",
        "if 0:\n    import os\nos.x\n",
        "try:\n    foo\nexcept NameError:\n    foo = 1\n",
        "try:\n    foo()\nexcept (OSError, Exception):\n    pass\n",
        "try:\n    foo()\nexcept:\n    pass\n",
        "def f(a: Foo) -> Bar:\n    b: Baz = a\n    return b\n",
        "def f(a: 'Foo') -> 'list[Bar]': ...\n",
        "import typing\nx = typing.cast('Foo', 1)\n",
        "globals().update(foo=1)\nfoo()\n",
        "import sys\nsetattr(sys.modules[__name__], 'foo', 1)\nfoo()\n",
        "import builtins\nbuiltins.foo = 1\nfoo()\n",
        "exec('foo = 1')\nfoo()\n",
        "print(_('text'), unicode, __class__, __file__)\n",
        "print 'Python 2', foo\n",
        "def f(:\n    foo\n",
        "x = " + "(" * 5_000 + "foo" + ")" * 5_000,
        "foo\n" + "#" * MAX_BYTES,
        "",
    ],
)
async def test_what_may_be_defined_is_not_named(text: str) -> None:
    """Nothing is said of files that make names while they run, or that cannot be read."""
    assert await undefined("a.py", text) == frozenset()


@pytest.mark.parametrize("path", ["a.js", "a.pyi", "a.txt", "a"])
async def test_other_languages_are_only_parsed(path: str) -> None:
    """A stub's names may stand in any order; other languages have no such reader."""
    assert await undefined(path, "foo;\n") == frozenset()
