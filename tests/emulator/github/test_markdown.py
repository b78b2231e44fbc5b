"""Markdown of strangers becomes harmless HTML."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.github.markdown import clean_html, render, title

TAGS = st.sampled_from(
    ["<script>", "</script>", "<img src=x onerror=a>", "<details open onclick=a>", "<!--", "-->",
     "<a href='javascript:a'>", "<", ">", '"', "&lt;", "\n\n", "| a |\n|---|\n", "`", "<b", "x"]
)  # fmt: skip


@given(st.lists(TAGS, max_size=12).map("".join))
def test_no_dangerous_tag(text: str) -> None:
    """Whatever is written, only harmless tags without attributes of their own come out."""
    for tag in re.findall(r"<[^>]*>", render(text, "/acme/demo")):
        assert re.fullmatch(
            r"</?(p|br ?/?|code|pre|table|thead|tbody|tr|th|td|b|hr ?/?|blockquote)>"
            r'|</?details( open)?>|<code class="language-[^"<>]*">',
            tag.replace(" /", " /"),
        ), tag


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see #12.", '<p>see <a href="/a/b/issues/12">#12</a>.</p>'),
        ("one\ntwo", "<p>one<br />\ntwo</p>"),
        ("a<!-- hidden -->b", "<p>ab</p>"),
        ("~~no~~", "<p><s>no</s></p>"),
        ("[x](javascript:a)", "<p>[x](javascript:a)</p>"),
        ("![p](http://e.org/p.png)", '<p><a href="http://e.org/p.png">p</a></p>'),
    ],
)
def test_render(text: str, shown: str) -> None:
    """Numbers link, line breaks stay, comments vanish, pictures become links."""
    assert render(text, "/a/b").strip() == shown


def test_clean_html() -> None:
    """`<details open>` keeps its one attribute; an unfinished comment hides the rest."""
    assert clean_html("<details open onclick=a><summary>") == "<details open><summary>"
    assert clean_html("a <!-- b") == "a "


def test_title() -> None:
    """A title knows code and nothing else."""
    assert title("`a<b` **c**") == "<code>a&lt;b</code> **c**"
