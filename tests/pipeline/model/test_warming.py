"""Calls that begin alike pay for their beginning once, also when they are made together."""

import asyncio
from typing import Any

from emulator.model.scripted import say
from pipeline.model.warming import Warming, beginning
from pipeline.services import CallAddress, ModelRequest
from tests.fakes import scripted_model
from tests.pipeline.model.test_gateway import log, order

NAMES = ("G1", "G2", "G3", "L1.1")
SCRIPT = {f"code/{name}/0": [say("x")] for name in NAMES}


def request(name: str) -> ModelRequest:
    """A coder's first call: the same opening, another plan."""
    blocks = [{"type": "text", "text": "o" * 8000}, {"type": "text", "text": f"plan {name}"}]
    message = {"role": "user", "content": blocks}
    return ModelRequest(CallAddress("code", name, "0"), "coder", "s", (message,))


async def test_the_others_wait_until_the_first_answer_has_begun() -> None:
    """One writes, three read, though all four were made at the same moment."""
    async with scripted_model(SCRIPT) as model:
        await order(model.base_url, "hold", address="code/*")
        calls = asyncio.gather(*(model.complete(request(name)) for name in NAMES))
        await asyncio.sleep(0.5)
        assert len(await log(model.base_url)) == 1
        await order(model.base_url, "release", address="code/*")
        replies = await calls
    assert sorted(reply.usage.cached_tokens > 1900 for reply in replies) == [False, *[True] * 3]


async def test_a_first_call_that_fails_holds_nobody_up() -> None:
    """Another one becomes the first."""
    async with scripted_model(SCRIPT) as model:
        await order(model.base_url, "faults", kind="529", times=3)
        replies = await asyncio.gather(*(model.complete(request(name)) for name in NAMES))
    assert [reply.stop_reason for reply in replies] == ["end_turn"] * 4


async def test_nobody_waits_for_long() -> None:
    """A first call that hangs delays the others by the limit, no more."""
    async with scripted_model(SCRIPT) as model:
        model._warming = Warming(max_wait_s=0.2)
        await order(model.base_url, "hold", address="code/G1/*")
        first = asyncio.create_task(model.complete(request("G1")))
        await asyncio.sleep(0.3)
        await asyncio.wait_for(model.complete(request("G2")), 5)
        assert not first.done()
        await order(model.base_url, "release", address="code/G1/*")
        await first


def test_a_beginning_ends_at_the_first_breakpoint() -> None:
    """What comes after it may differ; model, tools and system text may not."""

    def body(model: str, *texts: str, mark: bool = True) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": text} for text in texts]
        if mark:
            content[0]["cache_control"] = {"type": "ephemeral"}
        return {"model": model, "messages": [{"role": "user", "content": content}]}

    assert beginning(body("m", "a", "b")) == beginning(body("m", "a", "c")) != ""
    assert beginning(body("m", "a")) != beginning(body("n", "a"))
    assert beginning(body("m", "a")) != beginning(body("m", "b"))
    assert beginning(body("m", "a", mark=False)) == ""
