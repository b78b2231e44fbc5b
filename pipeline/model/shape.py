"""What an answer says of itself: its usage, its model, why it ended. Trusted only where it can be.

An answer whose usage cannot be true is settled at its reservation, see `AnthropicModel`.
"""

import re

from pipeline.model.prices import Price, plain_name
from pipeline.services import Json
from pipeline.values import Usage

STOP_REASONS = frozenset(
    {
        *("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"),
        "model_context_window_exceeded",
    }
)
HUGE = 3  # times what was reserved: no estimate is that wrong
_DATED = re.compile(r"-(\d{8}|latest)$")
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def read_usage(reported: Json, price: Price, *, hour: bool) -> Usage | None:
    """Usage as reported and priced, None when it is missing or negative.

    `hour`: entries were asked to live an hour; without details all written ones count as such.
    """
    said: dict[str, Json] = reported if isinstance(reported, dict) else {}
    counts = [said.get(name) for name in (*_INPUT, "output_tokens")]
    if counts[0] is None or counts[3] is None or not all(map(_is_count, counts)):
        return None
    fresh, written, read, output = (count or 0 for count in counts)
    details = said.get("cache_creation") or {}
    lived = details.get("ephemeral_1h_input_tokens") if isinstance(details, dict) else None
    long = min(written, lived) if _is_count(lived) and lived is not None else written * hour
    cost = price.cost(fresh, written, read, output, long)
    return Usage(1, fresh + written + read, read, output, cost)


def oddity(message: dict[str, Json], asked: str, usage: Usage | None, worst: Usage) -> str:
    """What about an answer cannot be true, in words; "" when nothing is odd.

    `worst` is what was reserved for it.
    """
    if usage is None:
        return "it reports no usage, or a negative one"
    if usage.cost_usd > HUGE * worst.cost_usd:
        return f"it reports a usage {HUGE} times above what is possible"
    if not is_same_model(asked, str(message.get("model") or "")):
        return f"it comes from the model {str(message['model'])[:60]!r}, not from {asked!r}"
    return ""


def is_same_model(asked: str, answered: str) -> bool:
    """Whether two names can mean the same model: dates, clouds' prefixes and aliases aside."""
    if not answered or asked.startswith("arn:"):  # a profile's name says nothing
        return True
    one, other = (_DATED.sub("", plain_name(name)) for name in (asked, answered))
    return one == other


def _is_count(value: Json) -> bool:
    return value is None or (type(value) is int and value >= 0)
