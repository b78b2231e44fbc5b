"""Commands are found only where a person typed them for Prism."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.admission.commands import Command, parse

RERUN = Command("rerun", "rerun")

GIVEN = {
    "plain": "/prism rerun",
    "case": "/Prism ReRun",
    "empty lines first": "\n\n  \n/prism rerun",
    "windows line ends": "/prism rerun\r\n\r\nthanks",
    "signature below": "/prism rerun\n-- \nSent from my phone",
    "three spaces": "   /prism rerun",
    "trailing space and dot": "/prism rerun.  ",
    "mention": "@prism-app rerun",
    "mention with comma": "@Prism-App, rerun",
    "mention with colon": "@prism-app: rerun",
    "below a quote": "> what they said\n\n/prism rerun",
    "below a fence": "```\ncode\n```\n/prism rerun",
    "below a longer fence": "````\n```\n````\n/prism rerun",
    "below a comment": "<!-- hi -->\n/prism rerun",
    "beside a comment": "<!-- hi --> /prism rerun",
    "below a long comment": "<!-- hi\n/prism help\n-->\n/prism rerun",
}
SILENT = {
    "nothing": "",
    "null": None,
    "thanks": "thanks!",
    "quoted": "> /prism rerun",
    "quoted twice": ">> /prism rerun",
    "quoted with spaces": "   > /prism rerun",
    "lazy quote": "> as they said\n/prism rerun",
    "fenced": "```\n/prism rerun\n```",
    "tilde fence": "~~~\n/prism rerun\n~~~",
    "fence with language": "```sh\n/prism rerun\n```",
    "nested fences": "````\n```\n/prism rerun\n```\n````",
    "fence that never ends": "```\n/prism rerun",
    "shorter closing fence": "````\n```\n/prism rerun",
    "closing fence with words": "```\n``` no\n/prism rerun",
    "indented code": "    /prism rerun",
    "tab": "\t/prism rerun",
    "HTML comment": "<!-- /prism rerun -->",
    "HTML comment of several lines": "<!--\n/prism rerun\n-->",
    "comment that never ends": "<!--\n/prism rerun",
    "inline code": "`/prism rerun`",
    "second line": "please\n/prism rerun",
    "middle of a line": "try /prism rerun",
    "e-mail reply": "On Monday, a wrote:\n> /prism rerun",
    "substring": "/prismatic rerun",
    "url": "https://example.org/prism rerun",
    "path": "x/prism rerun",
    "other mention": "@prism-app2 rerun",
    "mention inside a word": "me@prism-app rerun",
    "homoglyph": "/рrism rerun",
    "invisible character": "/pr\u200bism rerun",
    "too long": "/prism rerun " + "x" * 400,
}


@pytest.mark.parametrize("body", GIVEN.values(), ids=GIVEN)
def test_a_command_is_found(body):
    """What a person typed on the first line that counts is the command."""
    assert parse(body, "prism-app") == RERUN


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_nothing_else_is_a_command(body):
    """Quotes, code, hidden text, later lines and look-alikes never fire."""
    assert parse(body, "prism-app") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/prism", Command("help", "")),
        ("@prism-app", Command("help", "")),
        ("/prism help", Command("help", "help")),
        ("/prism HELP me", Command("help", "help", "me")),
        ("/prism explode", Command("unknown", "explode")),
        ("/prism $(reboot)", Command("unknown", "")),
        ("/prism rerun base=main", Command("rerun", "rerun", "base=main")),
    ],
)
def test_words_are_told_apart(body, expected):
    """Help, unknown words and arguments; a word that is no word is not repeated."""
    assert parse(body, "prism-app") == expected


@pytest.mark.parametrize("body", ["@anybody rerun", "@a-b-1 rerun", "/prism rerun"])
def test_without_a_name_any_mention_counts(body):
    """Who does not know the App's name lets every mention through, and only mentions."""
    assert parse(body, "") == RERUN
    assert parse(f"> {body}", "") is None
    assert parse("@ rerun", "") is None


@given(st.text(), st.sampled_from(["prism", "a.b", "x[", ""]))
def test_any_text_is_answered(body, slug):
    """No text and no slug makes the parser fail."""
    parse(body, slug)


@given(st.lists(st.text(alphabet=" >`~<!-/prism rerun\t", max_size=20), max_size=8))
def test_quoting_everything_silences_it(lines):
    """A comment that is quoted as a whole never fires."""
    assert parse("\n".join("> " + line for line in lines), "prism") is None


@given(st.text(alphabet="`~ \n/prism rerun<!->", max_size=80))
def test_a_fence_around_everything_silences_it(text):
    """Inside a fence longer than any fence of the text nothing fires."""
    fence = "`" * 90
    assert parse(f"{fence}\n{text}\n{fence}", "prism") is None


@pytest.mark.parametrize(
    "unit", ["<!--", "<!-- -->", "> \n", "```\n", "/prism ", "@prism-app ", " "]
)
def test_long_comments_are_quick(unit):
    """256 KB of one thing take well under a second."""
    started = time.process_time()
    parse(unit * (262_144 // len(unit)), "prism-app")
    assert time.process_time() - started < 0.5
