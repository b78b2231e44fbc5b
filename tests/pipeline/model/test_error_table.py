"""What the model API can do wrong, one test for each row, against the emulated endpoint."""

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from typing import Any

import pytest

from emulator.model.scripted import call, say
from pipeline.agent.limits import AgentLimits
from pipeline.agent.loop import run_agent
from pipeline.agent.roles import AgentRole
from pipeline.agent.tool import make_tool
from pipeline.agent.transcript import Transcript
from pipeline.errors import (
    KeyRefused,
    MalformedAnswer,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
    PriceUnknown,
    PromptTooLong,
)
from pipeline.model.circuit import Circuits
from pipeline.model.gateway import AnthropicModel, Traffic
from pipeline.services import CallAddress, ModelRequest, ToolSpec
from tests.fakes import MemoryBudget, emulated_model, scripted_model
from tests.pipeline.model.test_gateway import log, order


@dataclass(frozen=True)
class Place:
    """Input of a tool."""

    path: str
    line: int


TOOL = ToolSpec("view", "See.", {"type": "object"})
SCRIPT = {"code/G1/0": [say("Done.")]}


def request(turn: str = "0", **changes: Any) -> ModelRequest:
    """A coder's call."""
    at = CallAddress("code", "G1", turn)
    message = {"role": "user", "content": "go"}
    return ModelRequest(at, "coder", "system", (message,), (TOOL,), **changes)


async def test_a_pause_the_api_asks_for_is_kept_by_everybody() -> None:
    """429 five times: one answer, never earlier than `retry-after`, and other calls wait too."""
    async with scripted_model({**SCRIPT, "code/G1/1": [say("Too.")]}) as model:
        await order(model.base_url, "faults", kind="429", times=5, retry_after=0.1)
        began = time.monotonic()
        await model.complete(request())
        assert time.monotonic() - began >= 0.5
        assert len(await log(model.base_url)) == 6
        await order(model.base_url, "faults", kind="429", retry_after=0.6)
        first = asyncio.create_task(model.complete(request()))
        await asyncio.sleep(0.2)
        await model.complete(request("1"))
        await first
        *_, limited, one, other = [each["time"] for each in await log(model.base_url)]
    assert min(one, other) - limited >= 0.6


async def test_an_outage_is_found_out_once_for_all() -> None:
    """After six tries the circuit is open: other calls fail at once, and are told when to try."""
    now = 0.0
    circuits = Circuits(30.0, clock=lambda: now)
    async with scripted_model(SCRIPT) as model:
        model.traffic = Traffic(circuits=circuits)
        await order(model.base_url, "faults", kind="529", times=12)
        for waits in (30.0, 30.0):
            with pytest.raises(ModelUnavailable) as caught:
                await model.complete(request())
            assert caught.value.wait_s == waits
        assert len(await log(model.base_url)) == 6
        now = 31.0
        with pytest.raises(ModelUnavailable) as caught:
            await model.complete(request())  # the trial fails as well
        assert caught.value.wait_s == 60.0
        assert len(await log(model.base_url)) == 12
        now = 92.0
        replies = await asyncio.gather(*(model.complete(request()) for _ in range(3)))
        assert [reply.stop_reason for reply in replies] == ["end_turn"] * 3


async def test_a_fallback_stands_in_when_it_is_named_and_priced() -> None:
    """The model that is overloaded is asked six times, then the other one answers."""
    async with scripted_model(SCRIPT) as model:
        model.fallback = "claude-haiku-4-5"
        await order(model.base_url, "faults", kind="529", times=6)
        reply = await model.complete(request())
        await model.complete(request())  # the circuit is open: no further tries
        asked = [each["model"] for each in await log(model.base_url)]
    assert reply.model == "claude-haiku-4-5"
    assert asked == ["claude-sonnet-4-6"] * 6 + ["claude-haiku-4-5"] * 2
    with pytest.raises(PriceUnknown):
        AnthropicModel("k", "u", "claude-sonnet-4-6", "", MemoryBudget(), "r", fallback="gpt-9")


@pytest.mark.parametrize(
    "step",
    [pytest.param(130, id="here and there"), pytest.param(10, marks=pytest.mark.nightly)],
)
async def test_an_answer_cut_anywhere_is_never_used(step: int) -> None:
    """Every cut is discarded, charged at its reservation, and the call made once more."""
    budget = MemoryBudget()
    script = {"code/G1/0": [say("x" * 300), call("view", path="y" * 300)]}
    cuts = range(0, 1500, step)
    async with scripted_model(script, budget) as model:
        for after in cuts:
            await order(model.base_url, "faults", kind="cut", after_bytes=after)
            reply = await model.complete(request())
            assert reply.content[1]["input"] == {"path": "y" * 300}
    assert len(budget.settled) == 2 * len(cuts)
    for lost in range(0, len(budget.settled), 2):
        usage, stop = budget.settled[lost]
        assert (usage.cost_usd, stop) == (budget.reserved[lost][1], "lost")


async def test_a_call_cut_at_any_byte_is_not_carried_out() -> None:
    """Half of its arguments may look whole; it is asked for again, with twice the room."""
    done: list[Place] = []

    async def look(arguments: Place) -> str:
        done.append(arguments)
        return "seen"

    tool = make_tool("look", "Look.", Place, look)
    role = AgentRole("coder", "coder", lambda workspace, code: (tool,))
    whole = {"path": "ä.py", "line": 12}
    raw, budget = json.dumps(whole), MemoryBudget()
    script: dict[str, Any] = {}
    for n in range(len(raw) + 1):
        block = {"type": "tool_use", "name": "look", "input": raw[:n]}
        script[f"code/G{n}/0"] = {"content": [block], "stop_reason": "max_tokens"}
        script[f"code/G{n}/1"] = [call("look", **whole)]
    async with scripted_model(script, budget) as model:
        for n in range(len(raw) + 1):
            at = CallAddress("code", f"G{n}", "")
            run = await run_agent(model, role, Transcript("Repair."), (tool,), at, AgentLimits(2))
            assert len(run.transcript.turns) == 2
    assert done == [Place(**whole)] * (len(raw) + 1)
    first, second = budget.reserved[0][1], budget.reserved[1][1]
    assert second > 1.5 * first


async def test_an_error_within_the_stream_is_an_overload() -> None:
    """It is tried again like one; the tool call it broke off is never seen."""
    budget = MemoryBudget()
    script = {"code/G1/0": [call("view", path="a" * 500)]}
    async with scripted_model(script, budget) as model:
        await order(model.base_url, "faults", kind="sse_error", times=3, after_bytes=600)
        reply = await model.complete(request())
    assert reply.content[0]["input"] == {"path": "a" * 500}
    assert [stop for _, stop in budget.settled.values()] == ["lost"] * 3 + ["tool_use"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [("400", "prompt is too long: 210000 tokens > 200000 maximum"), ("413", "")],
)
async def test_what_is_too_long_is_not_tried_unchanged(kind: str, message: str) -> None:
    """One call; the agent's loop shortens the conversation or ends the item."""
    async with scripted_model(SCRIPT) as model:
        await order(model.base_url, "faults", kind=kind, message=message)
        with pytest.raises(PromptTooLong):
            await model.complete(request())
        assert len(await log(model.base_url)) == 1


async def test_a_refusal_is_not_asked_again() -> None:
    """One call, charged as it was."""
    script = {"code/G1/0": {"content": [say("No.")], "stop_reason": "refusal"}}
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        with pytest.raises(ModelRefused):
            await model.complete(request())
        assert len(await log(model.base_url)) == 1
    assert budget.settled[0][1] == "refusal"


async def test_a_paused_turn_goes_on_three_times() -> None:
    """Its parts are one answer; a fourth pause ends the call."""
    pause = {"content": [say("part ")], "stop_reason": "pause_turn"}
    script = {"code/G1/0": pause, "code/G1/0.more1": pause, "code/G1/0.more2": [say("end")]}
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        reply = await model.complete(request())
    assert [block["text"] for block in reply.content] == ["part ", "part ", "end"]
    assert reply.stop_reason == "end_turn"
    assert reply.usage == await budget.spent()
    endless = {f"code/G1/0{more}": pause for more in ("", ".more1", ".more2", ".more3", ".more4")}
    async with scripted_model(endless) as model:
        with pytest.raises(MalformedAnswer, match="again and again"):
            await model.complete(request())
        assert len(await log(model.base_url)) == 4


async def test_an_unknown_stop_reason_fails_the_item_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nobody knows whether such an answer is whole; it was paid for."""
    script = {"code/G1/0": {"content": [say("x")], "stop_reason": "moon_phase"}}
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        with pytest.raises(MalformedAnswer, match="moon_phase"):
            await model.complete(request())
    assert "moon_phase" in caplog.text
    assert budget.settled[0][0].cost_usd > 0


async def test_an_empty_answer_is_given_to_who_asked() -> None:
    """The loop asks again; the gateway invents nothing."""
    async with scripted_model({"code/G1/0": []}) as model:
        reply = await model.complete(request())
    assert reply.content == ()


ODD = {
    "negative": {"usage": {"input_tokens": -5, "output_tokens": 1}},
    "huge": {"usage": {"input_tokens": 10**9, "output_tokens": 1}},
    "another model": {"model": "claude-opus-4-8"},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
async def test_an_odd_answer_is_charged_in_full_and_three_end_the_run(
    odd: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Settled at the reservation, logged; the third in a row stops, another in between does not."""
    script = {"code/G1/0": {"content": [say("x")], **odd}, "code/G1/1": [say("y")]}
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        for turn in ("0", "0", "1", "0", "0"):
            await model.complete(request(turn))
        with pytest.raises(ModelRejected, match="3 answers in a row"):
            await model.complete(request())
    charged = [usage.cost_usd for usage, _ in budget.settled.values()]
    worst = [usd for _, usd in budget.reserved]
    assert [charged[n] == worst[n] for n in range(6)] == [True, True, False, True, True, True]
    assert caplog.text.count("answer is odd") == 5


async def test_a_stream_without_usage_is_odd_too() -> None:
    """It cannot be put together, so it is discarded, charged in full and asked for once more."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        await order(model.base_url, "faults", kind="no_usage")
        await model.complete(request())
        await order(model.base_url, "faults", kind="no_usage", times=9)
        with pytest.raises(ModelUnavailable):
            await model.complete(request())
        model.traffic = Traffic()
        with pytest.raises(ModelRejected, match="3 answers in a row"):
            await model.complete(request())
    assert budget.settled[0][0].cost_usd == budget.reserved[0][1]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("401", ""),
        ("403", ""),
        ("402", ""),
        ("400", "Your credit balance is too low to access the Anthropic API."),
    ],
)
async def test_a_refused_key_parks_every_run_and_is_logged_once(
    kind: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever model is asked: no further call until a trial is due, then one."""
    now = 0.0
    traffic = Traffic(circuits=Circuits(30.0, clock=lambda: now))
    caplog.set_level(logging.ERROR)
    async with scripted_model(SCRIPT) as model:
        model.traffic = traffic
        await order(model.base_url, "faults", kind=kind, message=message, times=2)
        for name in ("claude-sonnet-4-6", "claude-haiku-4-5", "claude-opus-4-8"):
            model.model = name
            with pytest.raises(KeyRefused):
                await model.complete(request())
            with pytest.raises(KeyRefused):
                traffic.circuits.check(name)
        assert len(await log(model.base_url)) == 1
        now = 31.0
        traffic.circuits.check("claude-sonnet-4-6")
        with pytest.raises(KeyRefused):
            await model.complete(request())
        now = 92.0
        await model.complete(request())
        assert len(await log(model.base_url)) == 3
    assert caplog.text.count("Runs wait for the model provider") == 1


async def test_a_ttl_that_is_not_taken_is_left_out() -> None:
    """A host that knows only short entries is asked without; found out once and free of charge."""
    script = {"global/G1/0": [say("x")]}
    at = CallAddress("global", "G1", "0")
    message = {"role": "user", "content": "go"}
    asked = ModelRequest(at, "planner", "s", (message,), is_left_later=True)
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        said = "messages.0.content.0.cache_control.ttl: Extra inputs are not permitted"
        await order(model.base_url, "faults", kind="400", message=said)
        await model.complete(asked)
        await model.complete(asked)
        statuses = [each["status"] for each in await log(model.base_url)]
    assert statuses == [400, 200, 200]
    assert budget.reserved[1][1] < budget.reserved[0][1]  # shorter entries cost less


async def test_roles_have_their_models() -> None:
    """The map decides by role, its group and what is left."""
    script = {"code/G1/0": [say("x")], "synthesis/S1/risk": [call("view")]}
    with emulated_model(script) as url:
        async with AnthropicModel(
            "key",
            url,
            "claude-sonnet-4-6",
            "",
            MemoryBudget(),
            "run",
            by_role={"reviewer": "claude-haiku-4-5", "coder": "claude-opus-4-8"},
        ) as model:
            await model.complete(request())
            at = CallAddress("synthesis", "S1", "risk")
            message = {"role": "user", "content": "go"}
            await model.complete(ModelRequest(at, "risk", "", (message,), (TOOL,), "view"))
        assert [each["model"] for each in await log(url)] == [
            "claude-opus-4-8",
            "claude-haiku-4-5",
        ]
