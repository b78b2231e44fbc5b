"""A verdict that exploring can do without: the default stands in when none can be had."""

from collections.abc import Callable
from typing import TypeVar

from pipeline.model.ask import NO_ANSWER, ask
from pipeline.prompts.render import Prompt
from pipeline.services import CallAddress, Model

T = TypeVar("T")


async def ask_or(
    model: Model,
    at: CallAddress,
    prompt: Prompt,
    default: T,
    check: Callable[[T], str | None] | None = None,
) -> tuple[T, tuple[str, ...]]:
    """The answer, or `default` itself and, in a sentence, why the model's could not be had.

    One sample must not be lost because of what is only said about it. Costs one to three calls;
    a used-up budget and errors that concern every call pass through.
    """
    try:
        return await ask(model, at, prompt, type(default), check=check), ()
    except NO_ANSWER as error:
        return default, (missing(at, prompt, str(error)),)


def missing(at: CallAddress, prompt: Prompt, reason: str) -> str:
    """One sentence for the record: which verdict a plan had to do without."""
    return f"{at.item} had to do without the verdict `{prompt.role}`: {reason}"
