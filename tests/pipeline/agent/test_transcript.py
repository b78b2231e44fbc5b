"""Transcripts only grow at their end, and forks share their parent's bytes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agent.transcript import CUT, Transcript, Turn, cut
from pipeline.jsonable import from_json, to_json


def turn(number: int, calls: int = 1, output: str = "out") -> Turn:
    """A step with some parallel calls."""
    names = [f"t{number}_{n}" for n in range(calls)]
    said = [{"type": "tool_use", "id": name, "name": "view", "input": {"n": 1}} for name in names]
    seen = [{"type": "tool_result", "tool_use_id": name, "content": output} for name in names]
    return Turn(
        ({"type": "text", "text": f"thought {number}"}, *said),
        tuple(seen) or ({"type": "text", "text": "go on"},),
    )


TRANSCRIPTS = st.builds(
    lambda opening, notes, calls: Transcript(
        opening, tuple(turn(n, count) for n, count in enumerate(calls)), tuple(notes)
    ),
    st.text(min_size=1),
    st.lists(st.text(min_size=1), max_size=2),
    st.lists(st.integers(0, 3), max_size=5),
)


@given(TRANSCRIPTS, st.data())
def test_a_fork_shares_its_parents_bytes(transcript: Transcript, data: st.DataObject) -> None:
    """Whatever is appended to a fork, the parent's bytes up to the fork point stand before it."""
    keep = data.draw(st.integers(0, len(transcript.turns)))
    forked = transcript.fork(keep)
    before = [json.dumps(m) for m in transcript.messages()[: 2 * keep + 1]]
    after = [json.dumps(m) for m in forked.append("guide").extend(turn(99)).messages()]
    assert [json.dumps(m) for m in forked.messages()] == before
    assert after[: 2 * keep] == before[:-1]
    assert after[2 * keep].startswith(before[-1].removesuffix("]}"))


@given(TRANSCRIPTS)
def test_json_keeps_everything(transcript: Transcript) -> None:
    """Written to a journal and read back it is equal."""
    written = json.dumps(to_json(transcript))
    assert from_json(Transcript, json.loads(written)) == transcript


@pytest.mark.parametrize("user", [(), ({"type": "tool_result", "tool_use_id": "other"},)])
def test_a_call_without_its_result_cannot_exist(user: tuple[object, ...]) -> None:
    """The API refuses such a conversation, so it cannot be made."""
    with pytest.raises(ValueError, match="needs its result"):
        Turn(({"type": "tool_use", "id": "a", "name": "n", "input": {}},), user)


@pytest.mark.parametrize("keep", [-1, 2])
def test_a_fork_keeps_what_exists(keep: int) -> None:
    """Keeping more turns than there are is a mistake of the caller."""
    with pytest.raises(ValueError, match="Cannot keep"):
        Transcript("o", (turn(0),)).fork(keep)


def test_reviewers_see_steps_and_cut_output() -> None:
    """Indices and calls are whole; tool output keeps its first third and last two thirds."""
    long = "a" * 400 + "b" * 400
    text = Transcript("the opening", (turn(0), turn(1, output=long))).render()
    assert '[step 0]\nthought 0\n→ view {"n": 1}\n← out' in text
    assert f"← {'a' * 100} […] {'b' * 200}" in text
    assert "the opening" not in text


@given(st.text(), st.integers(3, 50))
def test_cut_keeps_short_texts_and_bounds_long_ones(text: str, limit: int) -> None:
    """Never more than the limit and the mark; a short text is untouched."""
    got = cut(text, limit)
    assert got == text if len(text) <= limit else len(got) == limit + len(" […] ")
    assert CUT == 300
