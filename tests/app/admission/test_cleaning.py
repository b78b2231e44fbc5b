"""The model reads what a maintainer saw; what nobody saw is removed and named."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.admission.cleaning import RAW_LIMIT, TEXT_LIMIT, clean, clean_title

KEPT = {
    "plain": "It fails.\n\nWith `x < 1`.",
    "code with tags": "```html\n<b title='x'>hi</b> <!-- kept -->\n```",
    "tilde fence": "~~~\n<b>\n~~~",
    "longer fence": "````\n```\n<b>\n```\n````",
    "inline code": "`List<String>` and ``a ` <b>``",
    "comparison": "if a < b then c > d, and 1 <2",
    "arrow": "a <- b -> c",
    "https link": "[docs](https://example.org/a?b=c#d)",
    "relative link": "[file](src/a.py) [part](#part)",
    "emoji": "it 💥 fails 🙂",
    "accents": "Größe naïve 日本語 العربية",
    "footnote": "see [^1]\n\n[^1]: here",
    "task list": "- [ ] one\n- [x] two",
    "markdown table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "brackets": "a[0] and b[i](j)",
}
HIDDEN = {
    "comment": ("a<!-- evil -->b", "ab", "HTML comment"),
    "comment of several lines": ("a\n<!--\nevil\n```\n-->\nb", "a\n\nb", "HTML comment"),
    "comment that never ends": ("a\n<!-- evil", "a", "HTML comment"),
    "comment after an escaped tick": ("\\`<!-- evil -->\\`", "\\`\\`", "HTML comment"),
    "comment after a false fence": ("``` a`b\n<!-- evil -->", "``` a`b", "HTML comment"),
    "comment in an HTML block": ("<div>\n```\n<!-- evil -->\n```", "```\n\n```", "HTML comment"),
    "alt text of a tag": ('<img alt="evil" src="x">a', "a", "text in a tag"),
    "title of a tag": ("<b title='evil > this'>a</b>", "a", "text in a tag"),
    "broken tag": ('<div "evil" title="evil">\na', "a", "text in a tag"),
    "picture": ('<picture><img alt="evil"></picture>a', "a", "text in a tag"),
    "style": ("<style>evil</style>a", "a", "content of <style>"),
    "script that never ends": ("a <script>evil", "a", "content of <script>"),
    "image": ("![evil](https://x/y.png)a", "(image)a", "image description"),
    "link title": ('[a](https://x "evil")', "[a](https://x)", "link title"),
    "link title of two lines": ("[a](https://x 'ev\nil')", "[a](https://x)", "link title"),
    "script link": ("[a](javascript:evil())", "[a](javascript:evil())", ""),
    "data link": ("[a](data:text/html,evil)", "[a]()", "link target"),
    "definition": ("[//]: # (evil)\na", "a", "link definition"),
    "definition, title below": ('[x]: https://x\n"evil"\n\na', "a", "link definition"),
    "declaration": ("<!DOCTYPE evil>a", "a", "declaration"),
    "processing instruction": ("<?evil?>a", "a", "processing instruction"),
    "CDATA": ("<![CDATA[evil]]>a", "a", "CDATA section"),
    "tag characters": ("a\U000e0065\U000e0076b", "ab", "invisible character"),
    "bidi": ("a\u202eevil\u202c", "aevil", "invisible character"),
    "zero width": ("e\u200bv\u2060il", "evil", "invisible character"),
    "variation selectors": ("a\U000e0100\ufe01b", "ab", "invisible character"),
    "fillers": ("a\u3164\u115f\uffa0b", "ab", "invisible character"),
    "private use": ("a\ue000b", "ab", "invisible character"),
    "control characters": ("a\x00\x08b", "ab", "invisible character"),
    "invisible in code": ("`a\u200bb`", "`ab`", "invisible character"),
    "entities": ("&#60;!-- evil --&#62;a", "a", "HTML comment"),
    "entities of entities": ("&amp;amp;lt;!-- evil --&amp;gt;a", "a", "HTML comment"),
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_is_shown_stays(text):
    """Text, code and links that GitHub shows come through unchanged and unreported."""
    cleaned = clean(text)
    assert cleaned.text == text
    assert cleaned.removed == ()


@pytest.mark.parametrize(("raw", "text", "kind"), HIDDEN.values(), ids=HIDDEN)
def test_what_is_hidden_goes_and_is_named(raw, text, kind):
    """Hidden text is not in the result, and its kind is reported."""
    cleaned = clean(raw)
    assert cleaned.text == text
    assert [removed.kind for removed in cleaned.removed][:1] == ([kind] if kind else [])


def test_null_and_empty_bodies_are_empty():
    """GitHub sends null for an issue without a body."""
    assert clean(None) == clean("") == clean("  \n ")


def test_the_report_counts_and_quotes():
    """Two comments are one entry with a count and the beginning of the first."""
    removed = clean("<!-- do\n as \u200b told -->x<!-- b -->").removed
    assert [(r.kind, r.count, r.sample) for r in removed] == [("HTML comment", 2, "do as told")]


def test_emoji_joiners_and_windows_line_ends_are_no_news():
    """What everybody's keyboard produces is taken out without a word."""
    cleaned = clean("👩\u200d💻 ❤\ufe0f\r\nnext\r")
    assert cleaned.removed == ()
    assert cleaned.text == "👩💻 ❤\nnext"


def test_terminal_colours_go():
    """Pasted terminal output keeps its words only."""
    assert clean("\x1b[31mred\x1b[0m \x1b]0;title\x07ok").text == "red ok"


def test_text_is_cut_at_a_line_and_said_so():
    """300 KB become 32 KB, and the report says that something is missing."""
    cleaned = clean("line of text 💥\n" * 20_000)
    assert len(cleaned.text.encode()) <= TEXT_LIMIT
    assert cleaned.text.endswith("💥")
    assert [r.kind for r in cleaned.removed] == ["text beyond the size limit"]


def test_titles_are_one_line():
    """Line ends, runs of blanks and hidden characters leave a title; an empty one is fine."""
    assert clean_title("a\n\tb \u202e c").text == "a b c"
    assert clean_title(None).text == ""


PIECES = "<>!-/ab=\"'`[]()&;#\n\\ :lt6~"


@settings(max_examples=400)
@given(st.lists(st.sampled_from([*PIECES, "\u200b", "&lt;", "<!--", "-->", "```"])).map("".join))
def test_cleaning_twice_is_cleaning_once(text):
    """The result has nothing left to remove."""
    once = clean(text).text
    assert clean(once).text == once


UNITS = [
    "<!--", "[a](  ", "![", "&amp;", '<a "', '<a b="', "<a b=\" c=' ", "`a", "```\n", "```a`\n",
    "~~~\n", "[a]: b \"\n", "<a ", "<a\n", "<div>\n", "   <a", '](a "', "`\n\n", "&#60;", "\x1b[",
    "<style><script>", "[", "\\`", "\u200b", "𝕏",
]  # fmt: skip


@pytest.mark.parametrize("unit", [*UNITS, "[a](" + " " * 65_000])
def test_hostile_text_takes_linear_time(unit):
    """64 KB of any repeated piece are cleaned quickly, where popular patterns take seconds."""
    text = (unit * (RAW_LIMIT // len(unit) + 1))[:RAW_LIMIT]
    best = 9.0
    for _ in range(3):
        started = time.process_time()
        clean(text)
        best = min(best, time.process_time() - started)
    assert best < 1.0
