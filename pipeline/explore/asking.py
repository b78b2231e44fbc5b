"""A verdict that exploring can do without: the default stands in when none can be had."""

from collections.abc import Callable
from typing import TypeVar

from pipeline.errors import ModelRefused
from pipeline.model.ask import ask
from pipeline.prompts.render import Prompt
from pipeline.services import CallAddress, Model

T = TypeVar("T")


async def ask_or(
    model: Model,
    at: CallAddress,
    prompt: Prompt,
    default: T,
    check: Callable[[T], str | None] | None = None,
) -> T:
    """The answer, or `default` itself when the model refuses or its answers stay invalid.

    One sample must not be lost because of what is only said about it. Costs one to three calls;
    a used-up budget and other model errors pass through.
    """
    try:
        return await ask(model, at, prompt, type(default), check=check, default=default)
    except ModelRefused:
        return default
