"""What is sent of a long conversation: old results in short, and nothing else is touched."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.model.scripted import call
from pipeline.agent.compaction import GOAL, MAX_COMPACTIONS, NEWEST, SHORTENED, Window
from pipeline.agent.limits import AgentLimits
from pipeline.agent.loop import AgentRun, run_agent
from pipeline.agent.roles import CODER
from pipeline.agent.transcript import Transcript, Turn
from pipeline.errors import PromptTooLong
from pipeline.services import CallAddress, Json, ModelReply, ModelRequest
from tests.fakes import LocalWorkspace, scripted_model

SUBMIT = call("submit", summary="s", status="fixed")
LONG = "line of output\n" * 700


def turn(number: int, outputs: list[str]) -> Turn:
    """A step with a call for each output, and a word of the harness after them."""
    names = [f"t{number}_{n}" for n in range(len(outputs))]
    said = [{"type": "tool_use", "id": name, "name": "view", "input": {"n": 1}} for name in names]
    seen = [
        {"type": "tool_result", "tool_use_id": name, "content": output, "is_error": True}
        for name, output in zip(names, outputs, strict=True)
    ]
    return Turn(({"type": "text", "text": "Hm."}, *said), (*seen, {"type": "text", "text": "On."}))


OUTPUTS = st.lists(st.one_of(st.just(LONG), st.text(max_size=20)), min_size=1, max_size=2)
TRANSCRIPTS = st.lists(OUTPUTS, max_size=12).map(
    lambda turns: Transcript("Repair.", tuple(turn(n, each) for n, each in enumerate(turns)))
)


def compacted(window: Window, transcript: Transcript) -> Window | None:
    """None where the conversation has to end."""
    try:
        return window.compacted(transcript)
    except PromptTooLong:
        return None


@given(TRANSCRIPTS, st.integers(100, 20_000))
def test_only_old_results_change(transcript: Transcript, limit: int) -> None:
    """Opening, answers, notes and the newest turns are as they were; results keep call and flag."""
    window = compacted(Window(limit), transcript)
    if window is None:
        return
    sent, full = window.messages(transcript), transcript.messages()
    assert window.shortened <= max(0, len(transcript.turns) - NEWEST)
    assert sent[2 * window.shortened + 1 :] == full[2 * window.shortened + 1 :]
    assert sent[0] == full[0]
    for short, long in zip(sent, full, strict=True):
        assert len(json.dumps(short)) <= len(json.dumps(long))
        for one, other in zip(short["content"], long["content"], strict=True):
            assert one == {**other, "content": one["content"]} if "content" in one else one == other
    assert json.dumps(window.messages(transcript)) == json.dumps(sent)


@given(TRANSCRIPTS, st.integers(100, 20_000), OUTPUTS)
def test_between_compactions_a_conversation_only_grows(
    transcript: Transcript, limit: int, more: list[str]
) -> None:
    """The next call begins with the bytes of this one, so the prompt cache serves it."""
    window = compacted(Window(limit), transcript) or Window(limit)
    sent = window.messages(transcript)
    assert window.messages(transcript.extend(turn(99, more)))[: len(sent)] == sent


@given(TRANSCRIPTS, st.integers(100, 20_000), st.integers(0, 12))
def test_a_fork_is_its_parents_full_beginning(
    transcript: Transcript, limit: int, keep: int
) -> None:
    """What the parent sent in short is in full in a fork, as the parent sent it first."""
    compacted(Window(limit), transcript)
    kept = min(keep, len(transcript.turns))
    forked = transcript.fork(kept)
    assert Window(limit).messages(forked) == transcript.messages()[: 2 * kept + 1]


@given(TRANSCRIPTS)
def test_it_comes_to_an_end(transcript: Transcript) -> None:
    """Every compaction gains something, and there are at most two."""
    window, steps, length = Window(100), 0, len(json.dumps(transcript.messages()))
    while (following := compacted(window, transcript)) is not None:
        now = len(json.dumps(following.messages(transcript)))
        assert now < length
        window, steps, length = following, steps + 1, now
    assert steps <= MAX_COMPACTIONS


def test_one_compaction_goes_far_below_the_limit() -> None:
    """Steps are large: a call that shortens one more result each time would never be cached."""
    transcript = Transcript("Repair.", tuple(turn(n, [LONG]) for n in range(30)))
    window = Window(100_000)
    assert not window.fits(transcript)
    window = window.compacted(transcript)
    assert window.fits(transcript)
    half = Window(int(GOAL * 100_000) + 5000, shortened=window.shortened)
    assert half.fits(transcript)
    assert not Window(int(GOAL * 100_000) - 5000, shortened=window.shortened).fits(transcript)


class Sent:
    """A model that passes calls on and keeps what they held."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.requests: list[tuple[Json, ...]] = []

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request.messages)
        return await self.model.complete(request)


async def play(
    folder: Path, outputs: int, limit: int, faults: tuple[dict[str, Any], ...] = ()
) -> tuple[AgentRun, Sent]:
    """A coder that reads much, then hands in."""
    turns: list[Any] = [[call("view", path=f"{n}.txt")] for n in range(outputs)]
    script = {f"code/G1/{n}": said for n, said in enumerate([*turns, [SUBMIT], [SUBMIT]])}
    files = {f"{n}.txt": f"file {n}\n" + LONG for n in range(outputs)}
    workspace = LocalWorkspace(folder / "w", files)
    async with scripted_model(script) as model, httpx.AsyncClient() as client:
        for fault in faults:
            await client.post(f"{model.base_url}/_emulator/faults", json=fault)
        sent, at = Sent(model), CallAddress("code", "G1", "")
        tools, limits = CODER.tools(workspace, None), AgentLimits(40, limit)
        run = await run_agent(sent, CODER, Transcript("Repair."), tools, at, limits)
        return run, sent


async def test_a_long_conversation_is_shortened_and_goes_on(tmp_path: Path) -> None:
    """The transcript stays whole; calls rewrite what was sent before once, not at every turn."""
    run, sent = await play(tmp_path, 14, 40_000)
    assert run.exit_status == "submitted"
    assert SHORTENED not in json.dumps(run.transcript.messages())
    rewritten = [
        now[: len(before)] != before
        for before, now in zip(sent.requests, sent.requests[1:], strict=False)
    ]
    assert rewritten.count(True) == 1
    assert json.dumps(SHORTENED)[1:-1] in json.dumps(sent.requests[-1])


async def test_a_model_that_calls_it_too_long_gets_it_in_short(tmp_path: Path) -> None:
    """Its own limit counts where it is below what was configured; the turn keeps its address."""
    too_long = {"kind": "413", "address": "code/G1/9"}
    run, sent = await play(tmp_path, 12, 10**9, (too_long,))
    assert (run.exit_status, run.turns) == ("submitted", 14)
    assert len(sent.requests) == 15
    assert len(json.dumps(sent.requests[10])) < 0.6 * len(json.dumps(sent.requests[9]))


@pytest.mark.parametrize(
    ("outputs", "times", "why"),
    [(20, 3, "outgrew the model's context 3 times"), (2, 1, "too little in it can be shortened")],
)
async def test_one_that_stays_too_long_ends_the_agent(
    outputs: int, times: int, why: str, tmp_path: Path
) -> None:
    """After two compactions, or where there is nothing to gain: an outcome with its reason."""
    address = f"code/G1/{outputs - 1}"
    fault = {"kind": "413", "address": address, "times": times}
    run, _ = await play(tmp_path, outputs, 10**9, (fault,))
    assert (run.exit_status, run.output, run.turns) == ("context", None, outputs - 1)
    assert why in run.reason
