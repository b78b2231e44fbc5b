"""Names are shown on one line that hides nothing, and are found again as they were shown."""

from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.index.quoting import MAX_ASKED, asked_name, quoted, unquoted

NAMES = st.text(
    st.characters(codec=None) | st.sampled_from("\\nx1b\n\x1b\u202e\udcff/.:"), max_size=12
)


@given(NAMES)
@example("new\nline\\n.py")
@example("\x1b[31m\u202e\u3000\udcff")
def test_what_cannot_be_seen_is_written_out(name: str) -> None:
    """Always printable, and reversible unless nothing had to be quoted."""
    shown = quoted(name)
    assert shown.isprintable()
    assert (unquoted(shown) if shown != name else shown) == name


@given(st.text(st.characters(categories=["L", "N", "P"])))
def test_usual_names_stay(name: str) -> None:
    """Letters of any script and backslashes too."""
    assert quoted(name) == name


@given(st.text(max_size=3 * MAX_ASKED))
@example("\U000e0001" * 3 * MAX_ASKED)
def test_an_answer_repeats_what_was_asked_in_short(name: str) -> None:
    """On one line, whole when it is short; ten characters are the longest escape."""
    shown = asked_name(name)
    assert shown.isprintable()
    assert len(shown) <= 10 * (MAX_ASKED + 2) + 30
    assert len(name) > MAX_ASKED or shown == repr(name)
