"""What an issue names is found, in every language's way of writing it, in linear time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.index.rank.mentions import Frame, Permalink, mentions, split

PYTHON = """It fails:

```
Traceback (most recent call last):
  File "/home/u/run.py", line 3, in <module>
    main()
  File "/usr/lib/python3/site-packages/shop/cart.py", line 41, in total
    raise ValueError
ValueError: a cart must not be empty
```
"""


@pytest.mark.parametrize(
    ("title", "body", "name", "strength"),
    [
        ("", "call `frob` twice", "frob", 1.0),
        ("", "the get_order method", "get_order", 0.9),
        ("", "```\nget_order\n```", "get_order", 0.7),
        ("", "then run total() again", "total", 0.6),
        ("", "its cart.total is wrong", "total", 0.6),
        ("", "a Cart with nothing", "Cart", 0.35),
        ("", "a cart with nothing", "cart", 0.2),
        ("QuerySet fails", "", "QuerySet", 0.9 * 1.5),
        ("`frob` fails", "frob", "frob", 1.5),
        ("", "use $store in it", "$store", 0.9),
    ],
)
def test_strength(title: str, body: str, name: str, strength: float) -> None:
    """The more a word looks like code, the stronger it counts; most in the title."""
    assert mentions(title, body).identifiers[name] == pytest.approx(strength)


@pytest.mark.parametrize(
    ("body", "frames"),
    [
        (PYTHON, [("run.py", 3, "<module>"), ("cart.py", 41, "total")]),
        (
            "Error: x\n    at Cart.total (/app/lib/cart.js:12:5)\n    at main (/app/run.js:3:1)\n",
            [("run.js", 3, "main"), ("cart.js", 12, "total")],
        ),
        ("panicked at src/cart.rs:12:5", [("cart.rs", 12, "")]),
        ("main.total()\n\t/app/cart.go:12 +0x1d", [("cart.go", 12, "")]),
        ("lib/cart.rb:12:in `total'", [("cart.rb", 12, "total")]),
        ("tests/test_a.py:7: AssertionError", [("test_a.py", 7, "")]),
    ],
)
def test_frames(body: str, frames: list[tuple[str, int, str]]) -> None:
    """Call sites of a traceback, innermost last."""
    found = mentions("", body).frames
    assert [(each.path.rpartition("/")[2], each.line, each.function) for each in found] == frames


def test_two_tracebacks() -> None:
    """Two tracebacks apart from each other are two, so each has its own innermost call."""
    assert len({each.trace for each in mentions("", PYTHON + "\n\n\n\nand\n" + PYTHON).frames}) == 2


def test_paths_and_links() -> None:
    """Paths, and links to lines of a file at some commit; a web address is no path."""
    body = (
        "See src/shop/cart.py and lib\\a.ts, not https://example.org/docs/b.py.\n"
        "https://github.com/o/r/blob/0123abc/shop/cart.py#L10-L20"
    )
    found = mentions("", body)
    assert found.paths == ("src/shop/cart.py", "lib/a.ts")
    assert found.permalinks == (Permalink("shop/cart.py", 10, 20),)


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("shop.cart.Cart.total is wrong", "shop.cart.Cart.total"),
        ("from shop.cart import Cart, Item", "shop.cart.Item"),
        (">>> import numpy as np\n>>> np.linalg.norm(x)", "numpy.linalg.norm"),
        ("from shop import cart as c\nc.Cart()", "shop.cart.Cart"),
    ],
)
def test_dotted(body: str, name: str) -> None:
    """Dotted names as written, as imported, and through an alias."""
    assert name in mentions("", body).dotted


def test_references() -> None:
    """Numbers of issues and hashes of commits."""
    assert mentions("", "since #123 (a1b2c3d4)").references == {"123", "a1b2c3d4"}


def test_noise_is_left_out() -> None:
    """Comments of a form, links, frames and version lists are no words of the issue."""
    body = "<!-- thanks --> see https://a.example/hidden\n" + PYTHON + "numpy: 1.2.3\nkept"
    clean = mentions("", body).clean
    assert "kept" in clean
    for word in ("thanks", "hidden", "site-packages", "numpy"):
        assert word not in clean


def test_code_without_fences() -> None:
    """Indented lines and prompts are code, as in trackers that have no fences."""
    prose, code = split("text\n    x = 1\n>>> y\n~~~\nz\n~~~\nmore")
    assert (prose, code) == ("text\nmore", "    x = 1\n>>> y\nz")


@settings(max_examples=60)
@given(st.text(max_size=200), st.text(max_size=600))
def test_never_raises(title: str, body: str) -> None:
    """Any text is read, and every strength is between 0.2 and 1.5."""
    found = mentions(title, body)
    assert all(0.2 <= each <= 1.5 for each in found.identifiers.values())
    assert all(isinstance(each, Frame) for each in found.frames)


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "a/", "`", "<!--", "at ", ":1", "#1 ", 'File "', "/blob/a/", "f" * 40 + " ", "_",
     "import a, ", "http://", "a:1.1", "\n", "at a.b (", "x.py:", "~", "-- "],
)  # fmt: skip
def test_linear(unit: str) -> None:
    """A long repetition of anything that a pattern starts with costs no more than its length."""
    start = time.process_time()
    mentions("", unit * (200_000 // len(unit)))
    assert time.process_time() - start < 3.0
