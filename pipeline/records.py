"""What is recorded of a model call and of a tool's run: plain JSON, without keys or headers.

A recorder stores it in the shape of `pipeline.recording`, where a conversation costs its length
once and not once per turn.
"""

from pipeline.jsonable import to_json
from pipeline.services import Json, ModelReply, ModelRequest
from pipeline.values import Usage


def call_data(
    request: ModelRequest,
    model: str,
    request_hash: str,
    usage: Usage,
    stop: str,
    reply: ModelReply | None = None,
) -> Json:
    """One try of a call: the request as asked, without cache breakpoints, and what came back.

    `stop` is the stop reason or how the try failed ("http_529", "lost"); `usage` is what the
    budget was charged. Without `reply` nothing came back that could be used.
    """
    return {
        "role": request.role,
        "model": model,
        "hash": request_hash,
        "force_tool": request.force_tool,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "tools": [
            {"name": each.name, "description": each.description, "schema": dict(each.schema)}
            for each in request.tools
        ],
        "messages": list(request.messages),
        "reply": None if reply is None else {"content": list(reply.content), "model": reply.model},
        "usage": to_json(usage),
        "stop": stop,
    }


def tool_data(block: Json, observation: str, *, is_error: bool, seconds: float) -> Json:
    """A tool's run: the call as the model wrote it (a `tool_use` block) and what it was shown."""
    return {
        "id": block.get("id", ""),
        "name": block.get("name", ""),
        "input": block.get("input"),
        "observation": observation,
        "is_error": is_error,
        "seconds": round(seconds, 3),
    }
