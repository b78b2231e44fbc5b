"""`ask`: one structured verdict, validated, repaired twice, then an error."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pipeline.errors import MalformedAnswer, ModelRefused, PromptTooLong
from pipeline.model.schema import schema_of, validate
from pipeline.model.wire import sent_back, tool_calls
from pipeline.prompts.render import Prompt
from pipeline.services import CallAddress, Json, Model, ModelReply, ModelRequest, ToolSpec

T = TypeVar("T")

ANSWER = "answer"
REPAIRS = 2
MAX_TOKENS = 8192
NO_ANSWER = (MalformedAnswer, ModelRefused, PromptTooLong)
"""What ends one question and says nothing about the next one."""


async def ask(
    model: Model,
    address: CallAddress,
    prompt: Prompt,
    schema: type[T],
    *,
    check: Callable[[T], str | None] | None = None,
) -> T:
    """Put a prompt; the verdict is the input of a single forced tool, the dataclass `schema`.

    `check` may add rules that a schema cannot say; it returns what is wrong, None when nothing.
    An invalid answer is sent back with the problem named, twice, at the addresses `<turn>.fix1`
    and `<turn>.fix2`, with more room after one that was cut off; one that cannot even be read is
    asked for anew there. After that MalformedAnswer is raised; PromptTooLong at once when question
    and answer do not fit into the model's context. Costs one to three calls; budget and other
    model errors pass through.
    """
    tool = ToolSpec(ANSWER, "Give the answer. Call it exactly once.", schema_of(schema))
    blocks = [{"type": "text", "text": text} for text in prompt.blocks]
    messages: tuple[Json, ...] = (_user(*blocks),)
    problem, max_tokens = "", MAX_TOKENS
    for attempt in range(REPAIRS + 1):
        at = replace(address, turn=f"{address.turn}.fix{attempt}") if attempt else address
        request = ModelRequest(
            at, prompt.role, prompt.system, messages, (tool,), ANSWER, max_tokens
        )
        try:
            reply = await model.complete(request)
        except MalformedAnswer as error:  # cannot be sent back: asked anew
            problem = str(error)
            continue
        if reply.stop_reason == "model_context_window_exceeded":
            raise PromptTooLong(f"The answer to {at} does not fit into the model's context.")
        max_tokens = MAX_TOKENS * 2 if reply.stop_reason == "max_tokens" else MAX_TOKENS
        found = _judge(reply, schema, check)
        if not isinstance(found, str):
            return found
        problem = found
        messages = (*messages, *_sent_back(reply, problem))
    raise MalformedAnswer(
        f"The answer to {address} stayed invalid after {REPAIRS} repairs: {problem}"
    )


def _judge(reply: ModelReply, schema: type[T], check: Callable[[T], str | None] | None) -> T | str:
    if reply.stop_reason == "max_tokens":
        return "The answer was cut off at the length limit; be shorter."
    calls = tool_calls(reply.content)
    if len(calls) != 1 or calls[0].get("name") != ANSWER:
        return f"Call the tool `{ANSWER}` exactly once, with nothing else."
    value = validate(schema, calls[0].get("input"))
    if isinstance(value, str):
        return value
    return (check(value) if check else None) or value


def _sent_back(reply: ModelReply, problem: str) -> tuple[Json, ...]:
    """The invalid answer and why it is one; every tool call gets its result."""
    text = f"Not accepted: {problem} Call `{ANSWER}` again with the whole corrected answer."
    calls = tool_calls(reply.content)
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "is_error": True, "content": text}
        for call in calls
    ]
    answer = {"role": "assistant", "content": list(sent_back(reply.content))}
    return answer, _user(*(results or [{"type": "text", "text": text}]))


def _user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks)}
