"""A finished answer as server-sent events, in the API's order and in small pieces."""

import json
from collections.abc import Iterator
from typing import Any

Json = Any

PIECE = 200  # characters per delta


def events(message: Json, *, with_usage: bool = True) -> Iterator[bytes]:
    """message_start, then start, deltas and stop of each block, message_delta, message_stop.

    Without usage they are what a host sends that does not keep to the API's form.
    """
    usage = message["usage"]
    begin = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    if not with_usage:
        del begin["usage"]
    yield event("message_start", {"message": begin})
    for index, block in enumerate(message["content"]):
        empty, deltas = _pieces(block)
        yield event("content_block_start", {"index": index, "content_block": empty})
        for delta in deltas:
            yield event("content_block_delta", {"index": index, "delta": delta})
        yield event("content_block_stop", {"index": index})
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    counted = {"usage": {"output_tokens": usage["output_tokens"]}} if with_usage else {}
    yield event("message_delta", {"delta": delta, **counted})
    yield event("message_stop", {})


def event(kind: str, data: Json) -> bytes:
    """One server-sent event."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _pieces(block: Json) -> tuple[Json, list[Json]]:
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": part} for part in _split(block["text"])]
        return {**block, "text": ""}, deltas
    if block["type"] == "tool_use":
        raw = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        parts = [{"type": "input_json_delta", "partial_json": part} for part in _split(raw)]
        return {**block, "input": {}}, parts
    return block, []


def _split(text: str) -> list[str]:
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
