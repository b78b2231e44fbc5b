"""Golden test 14: a fork sends its parent's bytes, and the prefix cache serves them."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.model.cache import PrefixCache
from emulator.model.validation import cacheable, check
from pipeline.agent.transcript import Transcript, Turn
from pipeline.explore.state import Explored
from pipeline.jsonable import from_json, to_json
from pipeline.model.wire import bare, body_of
from pipeline.services import CallAddress, ModelRequest, PipelineStage, ToolSpec

TOOLS = (ToolSpec("view", "See.", {"type": "object", "properties": {"path": {"type": "string"}}}),)
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30
).map(lambda text: f"x{text}")


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Conversations with parallel calls, failed ones, notes and texts after results."""
    turns = []
    for number in range(draw(st.integers(1, 6))):
        ids = [f"t{number}_{call}" for call in range(draw(st.integers(0, 3)))]
        said = [{"type": "text", "text": draw(TEXT)}]
        calls = [
            {"type": "tool_use", "id": i, "name": "view", "input": {"path": draw(TEXT)}}
            for i in ids
        ]
        results = [
            {"type": "tool_result", "tool_use_id": i, "content": draw(TEXT), **draw(_FAILED)}
            for i in ids
        ]
        after = [{"type": "text", "text": draw(TEXT)}] if not ids or draw(st.booleans()) else []
        turns.append(Turn((*said, *calls), (*results, *after)))
    return Transcript(draw(TEXT), tuple(turns), tuple(draw(st.lists(TEXT, max_size=2))))


_FAILED = st.sampled_from([{}, {"is_error": True}])


def sent(transcript: Transcript, stage: PipelineStage, item: str) -> dict[str, Any]:
    """The body of a planner's next call."""
    at = CallAddress(stage, item, "0")
    request = ModelRequest(
        *(at, "planner", "system", transcript.messages(), TOOLS), is_left_later=stage == "global"
    )
    return body_of(request, "m")


def on_the_wire(body: dict[str, Any]) -> tuple[bytes, list[bytes]]:
    """What the cache compares, in order: everything before the messages, then every block."""
    head = json.dumps([body["model"], body["tools"], [bare(each) for each in body["system"]]])
    blocks = [
        json.dumps([message["role"], bare(block)])
        for message in body["messages"]
        for block in message["content"]
    ]
    return head.encode(), [block.encode() for block in blocks]


@settings(deadline=None)
@given(transcripts(), st.data())
def test_a_forks_request_begins_with_its_parents_bytes(
    parent: Transcript, data: st.DataObject
) -> None:
    """The parent's call at the fork point is a prefix of the branch's first one, byte for byte,
    also after the parent was read back from the journal."""
    keep = data.draw(st.integers(0, len(parent.turns)))
    kept = Explored("G1", "global", (), None, parent, "submitted")
    stored = from_json(Explored, json.loads(json.dumps(to_json(kept)))).transcript
    assert stored is not None
    branch = stored.fork(keep).append("Another way.")
    head, blocks = on_the_wire(sent(branch, "local", "L1.1"))
    at_fork = sent(Transcript(parent.opening, parent.turns[:keep], parent.notes), "global", "G1")
    parents_head, parents_blocks = on_the_wire(at_fork)
    assert head == parents_head
    assert blocks[: len(parents_blocks)] == parents_blocks
    assert len(blocks) == len(parents_blocks) + 1
    check(sent(branch, "local", "L1.1"))  # no call without its result either


@settings(deadline=None)
@given(transcripts(), st.data())
def test_a_branch_reads_all_its_parent_sent_an_hour_later(
    parent: Transcript, data: st.DataObject
) -> None:
    """Everything up to the fork point comes from the cache, after the wait for the others."""
    now = 0.0
    long = Transcript("x" * 8000, parent.turns, parent.notes)
    keep = data.draw(st.integers(0, len(parent.turns)))
    cache = PrefixCache(clock=lambda: now)
    for turns in range(len(parent.turns) + 1):
        before = cache.usage(
            sent(Transcript(long.opening, long.turns[:turns], long.notes), "global", "G1")
        )
        if turns == keep:
            whole = sum(value for value in before.values() if isinstance(value, int))
    now = 3500.0
    usage = cache.usage(sent(long.fork(keep).append("Another way."), "local", "L1.1"))
    assert usage["cache_read_input_tokens"] == whole


@settings(deadline=None)
@given(transcripts())
def test_there_are_never_more_than_four_breakpoints(transcript: Transcript) -> None:
    """And the newest turn is always one, so that the next call reads it."""
    body = sent(transcript, "code", "G1")
    marks = ["cache_control" in block for block in cacheable(body)]
    assert 2 <= sum(marks) <= 4
    assert marks[-1]


def test_only_what_is_left_later_asks_for_an_hour() -> None:
    """Nobody leaves another conversation later, and a long entry costs more."""
    transcript = Transcript("o")
    lives = {
        stage: {
            block["cache_control"].get("ttl")
            for block in cacheable(sent(transcript, stage, "X"))
            if "cache_control" in block
        }
        for stage in ("global", "local", "code")
    }
    assert lives == {"global": {"1h"}, "local": {None}, "code": {None}}


def test_a_verdict_shares_what_others_send_as_well() -> None:
    """Its message's first block has a breakpoint; one block alone has none."""
    at = CallAddress("synthesis", "S1", "risk")
    blocks = [{"type": "text", "text": text} for text in ("shared", "own")]

    def marks(content: list[Any]) -> list[bool]:
        message = {"role": "user", "content": content}
        body = body_of(ModelRequest(at, "risk", "s", (message,), TOOLS, "view"), "m")
        return ["cache_control" in block for block in body["messages"][0]["content"]]

    assert marks(blocks) == [True, False]
    assert marks(blocks[:1]) == [False]
