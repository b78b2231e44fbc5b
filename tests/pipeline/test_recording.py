"""The stored shape of records: nothing lost, nothing twice."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.journal import JsonLinesJournal, read_events
from pipeline.recording import Packer, Record, Unpacker, record_event, recorded
from pipeline.records import call_data, tool_data
from pipeline.services import CallAddress, Json, ModelReply, ModelRequest, ToolSpec
from pipeline.values import Usage

TOOLS = (ToolSpec("view", "View a file.", {"type": "object"}),)
BLOCKS = st.lists(st.text(max_size=20), min_size=1, max_size=6)


def user(text: str) -> Json:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def call_of(turn: int, messages: list[Json], system: str = "You repair bugs.") -> Any:
    """The data of one call."""
    at = CallAddress("code", "G1", str(turn))
    request = ModelRequest(at, "coder", system, tuple(messages), TOOLS)
    reply = ModelReply(({"type": "text", "text": f"answer {turn}"},), "end_turn", Usage(1), "m")
    return call_data(request, "m", "h", Usage(1, 10, 5, 2, 0.1), "end_turn", reply)


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=20)), min_size=1, max_size=12))
def test_every_record_is_read_back_whatever_forks_there_are(steps: list[tuple[int, str]]) -> None:
    """Conversations grow and leave each other anywhere; `recorded` gives back what was given."""
    conversations: list[list[Json]] = [[user("start")]]
    packer, given_data, events = Packer(), [], []
    for number, (whose, text) in enumerate(steps):
        conversation = [*conversations[whose % len(conversations)], user(text)]
        conversations.append(conversation)
        data = call_of(number, conversation, system=f"role {whose}")
        given_data.append(data)
        events.append(record_event("call", f"code/G1/{number}", 1, packer.pack("call", data)))
    read = list(recorded(json.loads(json.dumps(events))))
    assert [each.data for each in read] == given_data


def test_a_conversation_costs_its_length_once() -> None:
    """Eighty turns are stored in little more than twice what the last turn alone takes."""
    packer, conversation, stored = Packer(), [user("x" * 2000)], 0
    for turn in range(80):
        conversation = [*conversation, user(f"{turn} " + "y" * 2000)]
        data = call_of(turn, conversation)
        stored += len(json.dumps(packer.pack("call", data)))
    assert stored < 1.5 * len(json.dumps(data))


def test_a_fork_brings_only_what_its_parent_did_not_send() -> None:
    """Golden test 14: the prefix of a branch is its parent's, byte for byte, so it is not new."""
    packer, parent = Packer(), [user("issue"), user("a"), user("b")]
    packer.pack("call", call_of(0, parent))
    fork = packer.pack("call", call_of(1, [*parent[:2], user("another way")]))
    assert [message for _, message in fork["nodes"].values()] == [user("another way")]
    assert fork["texts"] == {}


async def test_a_resumed_file_goes_on_without_repeating_itself(tmp_path: Any) -> None:
    """A second journal over the same file knows what the first one stored."""
    path = tmp_path / "run.jsonl"
    first, second = call_of(0, [user("a")]), call_of(1, [user("a"), user("b")])
    await JsonLinesJournal(path, 1.0).record("call", "code/G1/0", 1, first)
    await JsonLinesJournal(path, 1.0).record("call", "code/G1/1", 2, second)
    events = list(read_events(path.read_text()))
    assert len(events[1]["data"]["nodes"]) == 1
    assert list(recorded(events)) == [
        Record("call", "code/G1/0", 1, first),
        Record("call", "code/G1/1", 2, second),
    ]


@given(BLOCKS, st.integers(0, 10_000))
def test_a_cut_recording_gives_what_is_whole(texts: list[str], at: int) -> None:
    """Cut anywhere, what is read is a beginning of what was recorded; nothing is made up."""
    packer, lines, wanted = Packer(), "", []
    for turn in range(len(texts)):
        data = call_of(turn, [user(text) for text in texts[: turn + 1]])
        wanted.append(data)
        lines += json.dumps(record_event("call", f"c/G/{turn}", 1, packer.pack("call", data)))
        lines += "\n"
    read = [each.data for each in recorded(read_events(lines[: at % (len(lines) + 1)]))]
    assert read == wanted[: len(read)]


def test_what_hangs_on_a_lost_record_is_left_out() -> None:
    """Without its beginning a conversation is not shown as if it had begun later."""
    packer = Packer()
    packer.pack("call", call_of(0, [user("a")]))
    later = packer.pack("call", call_of(1, [user("a"), user("b")]))
    assert list(recorded([record_event("call", "code/G1/1", 1, later)])) == []
    with pytest.raises(KeyError):
        Unpacker().unpack("call", later)


async def test_a_failure_to_record_is_said_once_and_ends_nothing(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The journal goes on without records, and its other lines stay readable."""
    path = tmp_path / "run.jsonl"
    journal = JsonLinesJournal(path, 1.0)
    for _ in range(3):
        await journal.record("tool", "code/G1/0", 1, {"observation": object()})
    assert [each.message.partition(":")[0] for each in caplog.records] == ["recording stopped"]
    await journal.finish("code", "code:G1", {"a": 1})
    again = await JsonLinesJournal(path, 1.0).start("code", "code:G1")
    assert again.output == {"a": 1}


def test_a_tool_result_says_what_was_asked_and_shown() -> None:
    """The call as the model wrote it, also one that cannot be carried out."""
    block = {"type": "tool_use", "id": "t1", "name": "view", "input": "no object"}
    data = tool_data(block, "Not valid.", is_error=True, seconds=0.12345)
    assert data == {
        "id": "t1",
        "name": "view",
        "input": "no object",
        "observation": "Not valid.",
        "is_error": True,
        "seconds": 0.123,
    }
