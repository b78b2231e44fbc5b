"""The body of a request: few breakpoints, in places that serve forks."""

from typing import Any

from pipeline.agent.transcript import Transcript, Turn
from pipeline.model.wire import body_of, estimated_tokens, request_hash
from pipeline.services import CallAddress, ModelRequest, ToolSpec

AT = CallAddress("local", "L1.1", "0")


def step(number: int) -> Turn:
    """A turn with one call."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "view", "input": {}}
    return Turn((call,), ({"type": "tool_result", "tool_use_id": f"t{number}", "content": "c"},))


def marked(body: dict[str, Any]) -> list[tuple[int, int]]:
    """(message, block) of each breakpoint in the messages."""
    return [
        (n, i)
        for n, message in enumerate(body["messages"])
        for i, block in enumerate(message["content"])
        if "cache_control" in block
    ]


def body(transcript: Transcript, **changes: Any) -> dict[str, Any]:
    """The body of a call with this conversation."""
    tools = (ToolSpec("answer", "d", {"type": "object"}),)
    request = ModelRequest(AT, "x", "system", transcript.messages(), tools, **changes)
    return body_of(request, "m")


def test_breakpoints_stand_at_opening_previous_end_and_end() -> None:
    """With the system text that is four, however long the conversation."""
    transcript = Transcript("o", tuple(step(n) for n in range(9)))
    assert marked(body(transcript)) == [(0, 0), (16, 0), (18, 0)]
    assert "cache_control" in body(transcript)["system"][0]


def test_a_fork_has_one_where_its_parent_ended() -> None:
    """The guide comes after the parent's last breakpoint."""
    fork = Transcript("o", (step(0), step(1), step(2))).fork(2).append("guide")
    assert marked(body(fork)) == [(0, 0), (4, 0), (4, 1)]


def test_notes_come_after_the_shared_opening() -> None:
    """All coders share the opening's entry, whatever their plan."""
    assert marked(body(Transcript("o").append("plan"))) == [(0, 0), (0, 1)]


def test_the_transcript_is_not_changed() -> None:
    """Breakpoints move from call to call, so they must not stay in the blocks."""
    transcript = Transcript("o", (step(0),))
    body(transcript)
    assert "cache_control" not in transcript.turns[0].user[0]


def test_a_forced_tool_is_forced_unless_the_model_cannot() -> None:
    """The choice is left open for models that refuse it."""
    forced = ModelRequest(AT, "x", "", ({"role": "user", "content": "c"},), force_tool="answer")
    assert body_of(forced, "m")["tool_choice"]["name"] == "answer"
    assert "tool_choice" not in body_of(forced, "m", can_force=False)


def test_equal_requests_have_equal_hashes_and_longer_ones_more_tokens() -> None:
    """The estimate grows with every part."""
    short, long = body(Transcript("o")), body(Transcript("o" * 300))
    assert request_hash(short) == request_hash(body(Transcript("o"))) != request_hash(long)
    assert estimated_tokens(long) - estimated_tokens(short) >= 99
