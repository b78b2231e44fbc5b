"""What the Messages API refuses in a request, as far as clients get it wrong. Pure."""

import re
from collections.abc import Iterator
from typing import Any

Json = Any

MAX_BREAKPOINTS = 4
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ALWAYS_THINKING = ("claude-opus-5-5", "claude-fable-5-1")  # these take no forced tool
SAMPLING = ("temperature", "top_p", "top_k")


class Invalid(ValueError):
    """The request breaks a rule of the API; the message reads as the API's does."""


def check(body: Json, *, goes_on: bool = False) -> None:
    """Raise Invalid when the API would answer 400.

    `goes_on`: the request continues an answer that was paused, so that may stand at its end.
    """
    if not isinstance(body, dict):
        raise Invalid("request body: Input should be a valid dictionary")
    _check_top(body)
    names = _check_tools(body)
    _check_choice(body.get("tool_choice"), names, body["model"])
    _check_messages(body.get("messages"), goes_on)
    _check_lifetimes(body)
    count = sum("cache_control" in block for block in cacheable(body))
    if count > MAX_BREAKPOINTS:
        raise Invalid(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {count}."
        )


def cacheable(body: Json) -> Iterator[Json]:
    """Every block in the order of the prefix: tools, system, messages."""
    yield from body.get("tools") or ()
    system = body.get("system") or ()
    yield from [{"type": "text", "text": system}] if isinstance(system, str) else system
    for message in body.get("messages") or ():
        yield from _blocks(message["content"])


def _check_top(body: Json) -> None:
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise Invalid("model: Field required")
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise Invalid("max_tokens: Field required, a positive integer")
    for name in SAMPLING:
        if name in body:
            raise Invalid(f"{name}: Extra inputs are not permitted")
    system = body.get("system", "")
    if not isinstance(system, str):
        for block in system:
            _check_text(block, "system")


def _check_tools(body: Json) -> set[str]:
    names: set[str] = set()
    for index, tool in enumerate(body.get("tools") or ()):
        name, schema = tool.get("name", ""), tool.get("input_schema")
        if not TOOL_NAME.fullmatch(name):
            raise Invalid(f"tools.{index}.name: String should match pattern")
        if name in names:
            raise Invalid("tools: Tool names must be unique.")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise Invalid(f"tools.{index}.input_schema.type: Field required, 'object'")
        names.add(name)
    return names


def _check_choice(choice: Json, names: set[str], model: str) -> None:
    if choice is None:
        return
    kind = choice.get("type")
    if kind not in {"auto", "any", "tool", "none"}:
        raise Invalid("tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'")
    if kind in {"any", "tool"} and model.startswith(ALWAYS_THINKING):
        raise Invalid(f"tool_choice: forced tool use is not supported on {model}")
    if kind == "tool" and choice.get("name") not in names:
        raise Invalid(f"Tool '{choice.get('name')}' not found in provided tools")


def _check_lifetimes(body: Json) -> None:
    """Entries that live longer come first, as the prefix of the others."""
    marks = [block["cache_control"] for block in cacheable(body) if "cache_control" in block]
    lives = [mark.get("ttl", "5m") for mark in marks]
    if set(lives) - {"5m", "1h"}:
        raise Invalid("cache_control.ttl: Input should be '5m' or '1h'")
    if lives != sorted(lives):  # "1h" before "5m"
        raise Invalid("a ttl='1h' cache_control block must not come after a ttl='5m' block")


def _check_messages(messages: Json, goes_on: bool) -> None:
    if not isinstance(messages, list) or not messages:
        raise Invalid("messages: at least one message is required")
    open_calls: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        role = ("user", "assistant")[index % 2]
        if message.get("role") != role:
            raise Invalid(f"messages.{index}: roles must alternate; expected '{role}'")
        blocks = _blocks(message.get("content"))
        if not blocks:
            raise Invalid(f"messages.{index}: content must be non-empty")
        for block in blocks:
            _check_block(block, role, f"messages.{index}")
        if role == "user":
            _check_results(blocks, open_calls, index)
            continue
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen.intersection(open_calls) or len(set(open_calls)) != len(open_calls):
            raise Invalid(f"messages.{index}: `tool_use` ids must be unique")
        seen.update(open_calls)
    if messages[-1]["role"] != "user" and (open_calls or not goes_on):
        raise Invalid("messages: the conversation must end with a user message")


def _check_results(blocks: list[Json], open_calls: list[str], index: int) -> None:
    results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
    missing = set(open_calls) - set(results)
    if missing:
        raise Invalid(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {', '.join(sorted(missing))}"
        )
    if set(results) - set(open_calls) or len(results) != len(set(results)):
        raise Invalid(f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks")
    if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
        raise Invalid(f"messages.{index}: `tool_result` blocks must come first")


def _check_block(block: Json, role: str, where: str) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        _check_text(block, where)
    elif kind == "tool_use" and role == "assistant":
        if not block.get("id") or not isinstance(block.get("input"), dict):
            raise Invalid(f"{where}: tool_use needs an id and an input object")
    elif kind == "tool_result" and role == "user":
        if not isinstance(block.get("content", ""), str | list):
            raise Invalid(f"{where}: tool_result content must be a string or a list")
    elif kind not in {"thinking", "redacted_thinking"} or role != "assistant":
        raise Invalid(f"{where}: a block of type {kind!r} is not allowed for role {role!r}")


def _check_text(block: Json, where: str) -> None:
    if not isinstance(block.get("text"), str) or not block["text"].strip():
        raise Invalid(f"{where}: text content blocks must contain non-whitespace text")


def _blocks(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content) if isinstance(content, list) else []
