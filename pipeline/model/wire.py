"""A ModelRequest as the Messages API's body: cache breakpoints, token estimate, hash. Pure."""

import hashlib
import json
from collections.abc import Iterable, Sequence

from pipeline.services import Json, ModelRequest

BYTES_PER_TOKEN = 3  # below what tokenizers reach on code and prose: an estimate that is too high
EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def body_of(
    request: ModelRequest, model: str, *, can_force: bool = True, hour: bool = True
) -> dict[str, Json]:
    """Arguments of `messages.stream`.

    At most four cache breakpoints: the system text (with the tools before it), the opening,
    the place a fork or the previous call ended at, and the end. They live five minutes; those of
    conversations that are left later an hour (`hour` False: five minutes, too). A single verdict
    has one after what others send as well, its message's blocks before the last, and none where
    nobody sends the same again. `can_force`
    False leaves the choice of tool to the model, for models that refuse a forced one.
    """
    mark = HOUR if hour and request.is_left_later else EPHEMERAL
    body: dict[str, Json] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": _marked(request, mark),
    }
    if request.system:
        body["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in request.tools
        ]
    if request.force_tool and can_force:
        body["tool_choice"] = {
            "type": "tool",
            "name": request.force_tool,
            "disable_parallel_tool_use": True,
        }
    return body


def tool_calls(content: Iterable[Json]) -> list[Json]:
    """The tool calls among an answer's blocks, in order."""
    return [block for block in content if block.get("type") == "tool_use"]


def sent_back(content: Sequence[Json]) -> tuple[Json, ...]:
    """An answer's blocks as the conversation goes on with them.

    The API takes neither an empty answer nor a call whose input is no object, which one that was
    cut off may be.
    """
    if not content:
        return ({"type": "text", "text": "(empty answer)"},)
    return tuple(
        {**block, "input": {}}
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict)
        else block
        for block in content
    )


def estimated_tokens(body: dict[str, Json]) -> int:
    """An upper estimate of the input: system, tools and messages as bytes."""
    return tokens_in([body.get("system"), body.get("tools"), body["messages"]])


def tokens_in(content: Json) -> int:
    """An upper estimate of the tokens in what is sent as JSON."""
    return len(json.dumps(content, ensure_ascii=False).encode(errors="replace")) // BYTES_PER_TOKEN


def request_hash(body: dict[str, Json]) -> str:
    """sha256 of the body, equal for equal requests."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def lives_an_hour(body: dict[str, Json]) -> bool:
    """Whether the call asks for cache entries that live an hour."""
    blocks = [*body.get("system", ()), *(b for m in body["messages"] for b in m["content"])]
    return any("ttl" in block.get("cache_control", {}) for block in blocks)


def bare(block: Json) -> Json:
    """A block without its breakpoint."""
    return {name: value for name, value in block.items() if name != "cache_control"}


def _marked(request: ModelRequest, mark: Json) -> list[Json]:
    marked = [{**message, "content": _blocks(message["content"])} for message in request.messages]
    users = [message["content"] for message in marked if message["role"] == "user"]
    if request.force_tool:
        places = [(users[0], len(users[0]) - 2)] if len(users[0]) > 1 else []
    else:
        places = _places(users)
    for blocks, index in places:
        blocks[index] = {**blocks[index], "cache_control": mark}
    return marked


def _places(users: list[list[Json]]) -> list[tuple[list[Json], int]]:
    """Where an agent's breakpoints stand: opening, end of the previous call, end."""
    places = [(users[0], 0), (users[-1], len(users[-1]) - 1)]
    results = [i for i, block in enumerate(users[-1]) if block["type"] == "tool_result"]
    if results and results[-1] < len(users[-1]) - 1:
        places.append((users[-1], results[-1]))  # a fork: its parent's call ended here
    elif len(users) > 1:
        places.append((users[-2], len(users[-2]) - 1))
    return places


def _blocks(content: Json) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
