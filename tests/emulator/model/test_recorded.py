"""A recorded run is played as it was."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.model.recorded import load_any, script_of
from emulator.model.script import ScriptError, save
from emulator.model.server import create_app
from emulator.serving import serving
from pipeline.journal import JsonLinesJournal
from pipeline.records import call_data
from pipeline.services import CallAddress, Json, ModelReply, ModelRequest
from pipeline.values import Usage

QUESTION = {"role": "user", "content": [{"type": "text", "text": "go"}]}
BODY = {"model": "m", "max_tokens": 100, "messages": [QUESTION], "stream": False}


async def record(path: Path, turn: str, content: Json, stop: str, attempt: int = 1) -> None:
    """Add a call with an answer to a recording; `content` None: it had none."""
    at = CallAddress("code", "G1", turn, attempt)
    used = Usage(1, 100, 60, 7, 0.5)
    reply = None if content is None else ModelReply(tuple(content), stop, used, "m")
    data = call_data(ModelRequest(at, "coder", "s", (QUESTION,)), "m", "h", used, stop, reply)
    await JsonLinesJournal(path, 1.0).record("call", str(at), attempt, data)


def answers(path: Path, *turns: str) -> list[Any]:
    """What the endpoint says at the addresses of some turns."""
    with serving(create_app(load_any(path))) as url, httpx.Client(base_url=url) as client:
        return [
            client.post(
                "/v1/messages",
                json=BODY,
                headers={"x-api-key": "k", "x-prism-call": f"code/G1/{turn}"},
            ).json()
            for turn in turns
        ]


async def test_content_stop_reason_and_usage_are_the_recorded_ones(tmp_path: Path) -> None:
    """Ids of tool calls too: later turns of a conversation name them."""
    path = tmp_path / "run.jsonl"
    call = {"type": "tool_use", "id": "toolu_9", "name": "view", "input": {"path": "a.py"}}
    await record(path, "0", [{"type": "text", "text": "Ä\u2028"}, call], "tool_use")
    await record(path, "1", [{"type": "text", "text": "half a sen"}], "max_tokens")
    first, second = answers(path, "0", "1")
    assert first["content"] == [{"type": "text", "text": "Ä\u2028"}, call]
    assert second["stop_reason"] == "max_tokens"
    used = first["usage"]
    assert (used["input_tokens"], used["cache_read_input_tokens"]) == (40, 60)
    assert used["output_tokens"] == 7


async def test_the_last_attempt_is_played_alone(tmp_path: Path) -> None:
    """Turns of an attempt that was killed do not mix with those of the one that went on."""
    path = tmp_path / "run.jsonl"
    for turn, attempt in (("0", 1), ("1", 1), ("0", 2)):
        await record(path, turn, [{"type": "text", "text": f"{attempt}"}], "end_turn", attempt)
    first, second = answers(path, "0", "1")
    assert first["content"][0]["text"] == "2"
    assert "no answer for the call" in second["error"]["message"]


async def test_a_try_that_failed_is_not_an_answer(tmp_path: Path) -> None:
    """The answer of the next try is; refusals and unreadable answers are played as such."""
    path = tmp_path / "run.jsonl"
    await record(path, "0", None, "http_529")
    await record(path, "0", [{"type": "text", "text": "ok"}], "end_turn")
    await record(path, "1", None, "refusal")
    await record(path, "2", None, "malformed")
    first, second, third = answers(path, "0", "1", "2")
    assert first["content"][0]["text"] == "ok"
    assert second["stop_reason"] == "refusal"
    assert third["content"][0]["input"] == '{"broken'


async def test_a_journal_without_calls_cannot_be_played(tmp_path: Path) -> None:
    """The message says how to get one that can."""
    path = tmp_path / "run.jsonl"
    await JsonLinesJournal(path, 1.0).finish("code", "code:G1", {})
    with pytest.raises(ScriptError, match="--record"):
        load_any(path)
    with pytest.raises(ScriptError, match="cannot be read"):
        load_any(tmp_path / "none")


async def test_a_script_is_still_a_script(tmp_path: Path) -> None:
    """Files by hand are told from recordings; a recording can be saved as a script, to edit it."""
    path = tmp_path / "run.jsonl"
    await record(path, "0", [{"type": "text", "text": "ok"}], "end_turn")
    save(script_of(path.read_text()), tmp_path / "script.json")
    assert load_any(tmp_path / "script.json") == load_any(path)
