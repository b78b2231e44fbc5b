"""The emulator answers as the API does, plays its script by address and fails on order."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.model.script import ScriptError, answer, checked, load, save
from emulator.model.scripted import call, say
from emulator.model.server import create_app
from emulator.serving import serving

SCRIPT = {
    "global/G1/0": [say("Look."), call("view", path="a.py")],
    "global/G1/1": {"content": [say("cut")], "stop_reason": "max_tokens"},
}
TOOLS = [{"name": "view", "description": "d", "input_schema": {"type": "object"}}]
BODY: dict[str, Any] = {
    "model": "claude-sonnet-4-6",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "go"}],
    "tools": TOOLS,
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """One emulator for the module; tests reset it."""
    with serving(create_app(SCRIPT)) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a key, of a fresh emulator."""
    async with httpx.AsyncClient(base_url=url, headers={"x-api-key": "k"}) as http:
        await http.post("/_emulator/reset")
        yield http


async def post(client: httpx.AsyncClient, address: str = "global/G1/0", **body: Any) -> Any:
    """One call at an address."""
    headers = {"x-prism-call": address, "x-prism-run": "r", "x-prism-attempt": "3"}
    return await client.post("/v1/messages", json={**BODY, **body}, headers=headers)


async def test_an_answer_is_the_scripts(client: httpx.AsyncClient) -> None:
    """Content with an id for the call, stop reason, usage."""
    reply = (await post(client)).json()
    assert [block["type"] for block in reply["content"]] == ["text", "tool_use"]
    assert reply["content"][1]["id"] == "toolu_global_G1_0_1"
    assert reply["stop_reason"] == "tool_use"
    assert reply["usage"]["input_tokens"] > 0
    assert (await post(client, "global/G1/1")).json()["stop_reason"] == "max_tokens"


async def test_a_stream_holds_the_same_message(client: httpx.AsyncClient) -> None:
    """Events in the API's order; the pieces of a tool call are its JSON."""
    text = (await post(client, stream=True)).text
    kinds = [line[7:] for line in text.splitlines() if line.startswith("event: ")]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert kinds == ["message_start", *block, *block, "message_delta", "message_stop"]
    data = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    pieces = [d["delta"].get("partial_json", "") for d in data if "delta" in d]
    assert json.loads("".join(pieces)) == {"path": "a.py"}


@pytest.mark.parametrize(("key", "words"), [("", "header is required"), ("refused", "invalid")])
async def test_a_key_is_needed(key: str, words: str, client: httpx.AsyncClient) -> None:
    """401 in the API's own form."""
    client.headers["x-api-key"] = key
    reply = await post(client)
    assert reply.status_code == 401
    assert reply.json()["error"]["type"] == "authentication_error"
    assert words in reply.json()["error"]["message"]


async def test_a_bearer_key_is_as_good(client: httpx.AsyncClient) -> None:
    """The newer SDK sends the key in another header."""
    client.headers.pop("x-api-key")
    client.headers["authorization"] = "Bearer k"
    assert (await post(client)).status_code == 200


async def test_an_unscripted_address_is_named(client: httpx.AsyncClient) -> None:
    """A hole in a script must be loud."""
    reply = await post(client, "code/G9/0")
    assert reply.status_code == 400
    assert "'code/G9/0'" in reply.json()["error"]["message"]


USE = {"type": "tool_use", "id": "t1", "name": "view", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "c"}
TEXT = {"type": "text", "text": "x"}
MARKED = {**TEXT, "cache_control": {"type": "ephemeral"}}


def talk(*contents: Any) -> list[Any]:
    """Messages whose roles alternate."""
    return [
        {"role": ("user", "assistant")[n % 2], "content": content}
        for n, content in enumerate(contents)
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"messages": []}, "at least one message"),
        ({"messages": talk("a")[:1] * 2}, "roles must alternate"),
        ({"messages": talk("a", "b")}, "must end with a user message"),
        ({"messages": talk("a", [USE], "c")}, "without `tool_result`"),
        ({"messages": talk("a", [USE], [TEXT, RESULT])}, "must come first"),
        ({"messages": talk("a", [TEXT], [RESULT])}, "unexpected `tool_use_id`"),
        ({"messages": talk("a", [USE], [RESULT], [USE], [RESULT])}, "must be unique"),
        ({"messages": talk([{**TEXT, "text": " "}])}, "non-whitespace"),
        ({"messages": talk("a", [{**USE, "input": "{"}], [RESULT])}, "an input object"),
        ({"messages": talk([MARKED] * 5)}, "A maximum of 4 blocks"),
        ({"messages": talk([{"type": "tool_use"}])}, "not allowed for role 'user'"),
        ({"tools": TOOLS * 2}, "must be unique"),
        ({"tools": [{**TOOLS[0], "name": "a b"}]}, "should match pattern"),
        ({"tools": [{**TOOLS[0], "input_schema": {}}]}, "input_schema"),
        ({"tool_choice": {"type": "tool", "name": "fly"}}, "not found"),
        ({"max_tokens": None}, "max_tokens"),
        ({"model": ""}, "model"),
        ({"temperature": 0}, "Extra inputs"),
    ],
)
async def test_mistakes_are_refused(
    change: dict[str, Any], words: str, client: httpx.AsyncClient
) -> None:
    """400 with the rule, for what the API refuses too."""
    reply = await post(client, **change)
    assert reply.status_code == 400
    assert words in reply.json()["error"]["message"]


async def test_a_conversation_with_tools_is_accepted(client: httpx.AsyncClient) -> None:
    """Thinking blocks, results first and then text: as the loop sends it."""
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert (await post(client, messages=talk("a", [thinking, USE], [RESULT, TEXT]))).is_success


@pytest.mark.parametrize("kind", ["400", "401", "429", "500", "529"])
async def test_faults_come_on_order(kind: str, client: httpx.AsyncClient) -> None:
    """For the next calls that match, in the log with their status, then no more."""
    fault = {"kind": kind, "address": "global/*", "times": 2, "retry_after": 7}
    assert (await client.post("/_emulator/faults", json=fault)).is_success
    first = await post(client)
    assert first.headers["retry-after"] == "7"
    await post(client)
    await post(client)
    log = (await client.get("/_emulator/calls")).json()
    assert [entry["status"] for entry in log] == [int(kind), int(kind), 200]
    assert {(entry["run"], entry["attempt"]) for entry in log} == {("r", 3)}


async def test_a_fault_elsewhere_does_not_strike(client: httpx.AsyncClient) -> None:
    """Other addresses are answered."""
    await client.post("/_emulator/faults", json={"kind": "500", "address": "code/*"})
    assert (await post(client)).status_code == 200


@pytest.mark.parametrize(
    ("order", "data"),
    [("faults", {"kind": "999"}), ("faults", {}), ("release", {"address": "x"}), ("script", [])],
)
async def test_a_bad_order_is_refused(order: str, data: Any, client: httpx.AsyncClient) -> None:
    """A test that steers wrongly must notice."""
    assert (await client.post(f"/_emulator/{order}", json=data)).status_code == 400
    assert (await client.post("/_emulator/dance")).status_code == 404


async def test_a_held_call_waits_for_its_release(client: httpx.AsyncClient) -> None:
    """It is in the log without a status meanwhile, and others pass."""
    await client.post("/_emulator/hold", json={"address": "global/G1/0"})
    held = asyncio.create_task(post(client))
    assert (await post(client, "global/G1/1")).status_code == 200
    log: list[dict[str, Any]] = []
    while len(log) < 2:
        log = (await client.get("/_emulator/calls")).json()
    assert {entry["address"]: entry["status"] for entry in log} == {
        "global/G1/0": None,
        "global/G1/1": 200,
    }
    assert not held.done()
    await client.post("/_emulator/release", json={"address": "global/G1/0"})
    assert (await held).status_code == 200


async def test_tokens_are_counted(client: httpx.AsyncClient) -> None:
    """The same number that a call reports as its input."""
    body = {key: value for key, value in BODY.items() if key != "max_tokens"}
    counted = (await client.post("/v1/messages/count_tokens", json=body)).json()["input_tokens"]
    assert counted == (await post(client)).json()["usage"]["input_tokens"]


async def test_a_script_can_be_replaced(client: httpx.AsyncClient) -> None:
    """One emulator serves several scenarios, one after the other."""
    await client.post("/_emulator/script", json={"global/G1/0": [say("new")]})
    assert (await post(client)).json()["content"] == [say("new")]
    await client.post("/_emulator/script", json=SCRIPT)


def test_a_script_is_saved_and_loaded(tmp_path: Path) -> None:
    """JSON in a file is the same script."""
    save(SCRIPT, tmp_path / "s.json")
    assert load(tmp_path / "s.json") == SCRIPT
    assert answer(SCRIPT, "global/G1/9") is None


@pytest.mark.parametrize(
    "data", [[], {"G1": []}, {"a/b/c": "text"}, {"a/b/c": {"stop_reason": "x"}}, {"a/b/c": ["x"]}]
)
def test_a_script_that_cannot_be_played_is_refused(data: Any) -> None:
    """At the start, not in the middle of a run."""
    with pytest.raises(ScriptError):
        checked(data)
