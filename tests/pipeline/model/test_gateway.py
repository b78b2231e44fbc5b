"""The gateway pays what a call costs, tries again what is worth it, and explains the rest."""

import json
import ssl
from typing import Any

import httpx
import pytest

from emulator.model.scripted import call, say
from pipeline.errors import (
    BudgetExhausted,
    KeyRefused,
    MalformedAnswer,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
    PriceUnknown,
    PromptTooLong,
)
from pipeline.model.faults import Faulty, classify
from pipeline.model.gateway import AnthropicModel
from pipeline.model.probe import check_model
from pipeline.services import CallAddress, ModelRequest, ToolSpec
from tests.fakes import MemoryBudget, emulated_model, scripted_model

AT = CallAddress("global", "G1", "0", attempt=2)
SCRIPT = {"global/G1/0": [say("Thinking."), call("view", path="ä.py")]}
TOOL = ToolSpec("view", "See.", {"type": "object"})
REQUEST = ModelRequest(AT, "planner", "s" * 6000, ({"role": "user", "content": "go"},), (TOOL,))


async def order(url: str, what: str, **data: Any) -> None:
    """Steer the emulator."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{url}/_emulator/{what}", json=data)
        assert answer.status_code == 200, answer.text


async def log(url: str) -> list[dict[str, Any]]:
    """The emulator's log of calls."""
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{url}/_emulator/calls")
        calls: list[dict[str, Any]] = answer.json()
        return calls


async def test_a_call_is_reserved_sent_with_its_address_and_settled() -> None:
    """Reservation above the real cost, headers on the wire, usage from the reply."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        reply = await model.complete(REQUEST)
        (entry,) = await log(model.base_url)
    assert (entry["run"], entry["address"], entry["attempt"]) == ("run", "global/G1/0", 2)
    assert [block["type"] for block in reply.content] == ["text", "tool_use"]
    assert reply.content[1]["input"] == {"path": "ä.py"}
    assert reply.stop_reason == "tool_use"
    assert budget.settled[0] == (reply.usage, "tool_use")
    assert 0 < reply.usage.cost_usd < budget.reserved[0][1]


async def test_the_same_prefix_is_read_from_cache() -> None:
    """The second call pays a tenth for what the first one sent, and the parts add up."""
    async with scripted_model(SCRIPT) as model:
        first, second = await model.complete(REQUEST), await model.complete(REQUEST)
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens > 1400
    assert second.usage.input_tokens == first.usage.input_tokens
    assert second.usage.cost_usd < first.usage.cost_usd / 3


@pytest.mark.parametrize(
    ("fault", "times", "charged"),
    [
        ({"kind": "429", "retry_after": 0.02}, 5, False),
        ({"kind": "529"}, 5, False),
        ({"kind": "500"}, 2, False),
        ({"kind": "502"}, 2, False),
        ({"kind": "503"}, 2, False),
        ({"kind": "cut"}, 1, True),
        ({"kind": "cut", "after_bytes": 700}, 1, True),
        ({"kind": "cut", "after_bytes": 0}, 1, True),
        ({"kind": "sse_error"}, 2, True),
    ],
)
async def test_a_passing_fault_is_tried_again(
    fault: dict[str, Any], times: int, charged: bool
) -> None:
    """Faults, then the answer: every try is its own reservation, a broken one at its worst."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        await order(model.base_url, "faults", times=times, **fault)
        reply = await model.complete(REQUEST)
    costs = [budget.settled[n][0].cost_usd for n in range(times + 1)]
    worst = [usd for _, usd in budget.reserved]
    assert costs == [*(worst[:times] if charged else [0.0] * times), reply.usage.cost_usd]


async def test_a_line_that_cuts_answers_is_tried_twice() -> None:
    """What was sent may be paid for each time, so a second cut ends the call."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        await order(model.base_url, "faults", kind="cut", times=9)
        with pytest.raises(ModelUnavailable):
            await model.complete(REQUEST)
    assert [usage.cost_usd for usage, _ in budget.settled.values()] == [
        usd for _, usd in budget.reserved
    ]
    assert len(budget.reserved) == 2


async def test_a_lasting_fault_ends_after_six_tries() -> None:
    """Then the error says which call and why; nothing stays reserved."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        await order(model.base_url, "faults", kind="529", times=99)
        with pytest.raises(ModelUnavailable, match="global/G1/0: HTTP 529") as caught:
            await model.complete(REQUEST)
    assert caught.value.status == 529
    assert len(budget.reserved) == len(budget.settled) == 6


async def test_retry_after_is_obeyed_within_the_deadline() -> None:
    """A pause that the deadline does not allow ends the call."""
    async with scripted_model(SCRIPT) as model:
        model.deadline_s = 0.3
        await order(model.base_url, "faults", kind="429", retry_after=20)
        with pytest.raises(ModelUnavailable, match=r"no answer within 0\.3 s.*429"):
            await model.complete(REQUEST)


async def test_a_hanging_call_ends_at_the_deadline_and_is_charged() -> None:
    """What was sent may be paid for, so it is settled at its worst case."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        model.deadline_s = 0.3
        await order(model.base_url, "hold", address="global/*")
        with pytest.raises(ModelUnavailable):
            await model.complete(REQUEST)
        await order(model.base_url, "release", address="global/*")
    assert budget.settled[0][0].cost_usd == budget.reserved[0][1]


async def test_no_host_is_unavailable_and_free() -> None:
    """A refused connection costs nothing."""
    with emulated_model({}) as url:
        pass
    budget = MemoryBudget()
    async with AnthropicModel("k", url, "claude-sonnet-4-6", "", budget, "r", backoff_s=0) as model:
        with pytest.raises(ModelUnavailable):
            await model.complete(REQUEST)
    assert (await budget.spent()).cost_usd == 0


async def test_a_bad_key_is_rejected_at_once() -> None:
    """One try, with the setting to check, and nothing charged."""
    with emulated_model(SCRIPT) as url:
        budget = MemoryBudget()
        async with AnthropicModel("refused", url, "claude-sonnet-4-6", "", budget, "r") as model:
            with pytest.raises(ModelRejected, match="ANTHROPIC_API_KEY") as caught:
                await model.complete(REQUEST)
        assert len(await log(url)) == 1
    assert caught.value.status == 401
    assert (await budget.spent()).cost_usd == 0


async def test_no_key_is_said_without_a_call() -> None:
    """The SDK would only notice at the first call, with a TypeError."""
    model = AnthropicModel("", "http://127.0.0.1:9", "claude-sonnet-4-6", "", MemoryBudget(), "r")
    with pytest.raises(ModelRejected, match="No model key is set"):
        await model.complete(REQUEST)


def test_a_model_without_a_price_is_refused_at_the_start() -> None:
    """Money that cannot be counted is not spent."""
    with pytest.raises(PriceUnknown, match="PRISM_PRICES"):
        AnthropicModel("k", "http://127.0.0.1:9", "gpt-9", "", MemoryBudget(), "r")


async def test_a_refusal_is_charged_and_raised() -> None:
    """The tokens of a declined answer were used."""
    budget = MemoryBudget()
    script = {"global/G1/0": {"content": [say("No.")], "stop_reason": "refusal"}}
    async with scripted_model(script, budget) as model:
        with pytest.raises(ModelRefused):
            await model.complete(REQUEST)
    assert budget.settled[0][1] == "refusal"


async def test_a_full_budget_stops_before_the_call() -> None:
    """Nothing is sent."""
    async with scripted_model(SCRIPT, MemoryBudget(limit_usd=0.01)) as model:
        with pytest.raises(BudgetExhausted):
            await model.complete(REQUEST)
        assert await log(model.base_url) == []


async def test_the_verdict_model_answers_forced_calls() -> None:
    """Agents and single verdicts can have different models."""
    async with scripted_model(SCRIPT) as model:
        model.verdict_model = "claude-haiku-4-5"
        forced = ModelRequest(AT, "x", "", REQUEST.messages, (TOOL,), force_tool="view")
        await model.complete(REQUEST)
        await model.complete(forced)
        models = [entry["model"] for entry in await log(model.base_url)]
    assert models == ["claude-sonnet-4-6", "claude-haiku-4-5"]


async def test_a_model_that_takes_no_forced_tool_is_left_the_choice() -> None:
    """It is found out once, free of charge, and remembered."""
    budget = MemoryBudget()
    async with scripted_model(SCRIPT, budget) as model:
        model.model = "claude-opus-5-5"
        forced = ModelRequest(AT, "x", "", REQUEST.messages, (TOOL,), force_tool="view")
        await model.complete(forced)
        await model.complete(forced)
        statuses = [entry["status"] for entry in await log(model.base_url)]
    assert statuses == [400, 200, 200]
    assert budget.settled[0][0].cost_usd == 0


async def test_the_probe_says_what_is_wrong() -> None:
    """A good key returns, a bad one raises with a sentence."""
    with emulated_model({}) as url:
        await check_model("good", url, "claude-sonnet-4-6", {})
        with pytest.raises(ModelRejected, match="refused the key"):
            await check_model("refused", url, "claude-sonnet-4-6", {})


def api_error(status: int, message: str) -> Exception:
    """An error as the SDK raises it."""
    from anthropic import APIStatusError
    from httpx2 import Request, Response

    response = Response(status, request=Request("POST", "http://127.0.0.1/v1/messages"))
    body = {"type": "error", "error": {"type": "x", "message": message}}
    return APIStatusError(message, response=response, body=body)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", PromptTooLong),
        (413, "request_too_large", PromptTooLong),
        (400, "messages: roles must alternate", ModelRejected),
        (401, "invalid x-api-key", KeyRefused),
        (403, "forbidden", KeyRefused),
        (400, "Your credit balance is too low to access the Anthropic API.", KeyRefused),
        (404, "model: claude-none", ModelRejected),
        (402, "Insufficient Balance", KeyRefused),
        (503, "down", Faulty),
        (408, "slow", Faulty),
    ],
)
def test_statuses_mean_what_they_should(status: int, message: str, kind: type) -> None:
    """Each status is either worth another try or explained."""
    found = classify(api_error(status, message), "claude-none", {})
    assert type(found) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("unexpected end of hex escape"), MalformedAnswer),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), MalformedAnswer),
        (json.JSONDecodeError("no", "x", 0), MalformedAnswer),
        (ssl.SSLCertVerificationError("expired"), Faulty),  # a ValueError too
        (ConnectionResetError("gone"), Faulty),
        (RuntimeError("closed"), Faulty),
    ],
)
def test_what_cannot_be_read_is_not_tried_again(error: Exception, kind: type) -> None:
    """The same text would end the same; what the line did to it may pass."""
    assert type(classify(error, "claude-sonnet-4-6", {})) is kind


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("tool_choice", "tool_choice: forced tool use is not supported on this model"),
        ("ttl", "messages.0.content.0.cache_control.ttl: Extra inputs are not permitted"),
    ],
)
def test_only_what_was_sent_can_be_left_out(part: str, said: str) -> None:
    """The same sentence without that part in the request is a rejection like any other."""
    error = api_error(400, said)
    found = classify(error, "claude-opus-5-5", {part: True})
    assert isinstance(found, Faulty)
    assert found.forbids == part
    assert isinstance(classify(error, "claude-opus-5-5", {}), ModelRejected)
