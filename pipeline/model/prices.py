"""What tokens cost, so that a budget is reserved before a call and settled after it.

A model without a price is refused at the start: spending that cannot be counted is not allowed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.errors import PriceUnknown

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens; cache traffic is priced as a multiple of the input price.

    `cache_write` is for entries that live five minutes, `cache_hour` for those that live an hour.
    """

    input_usd: float
    output_usd: float
    cache_read: float = 0.1
    cache_write: float = 1.25
    cache_hour: float = 2.0

    def cost(self, fresh: int, written: int, read: int, output: int, hour: int = 0) -> float:
        """USD of a call with this many uncached, cache-written, cache-read and output tokens.

        `hour` is the part of `written` that lives an hour.
        """
        weighted = self.input_units(fresh, written, read, hour)
        return (weighted * self.input_usd + output * self.output_usd) / MILLION

    def input_units(self, fresh: int, written: int, read: int, hour: int = 0) -> float:
        """What the input is billed as, in tokens at the plain input price."""
        short = (written - hour) * self.cache_write
        return fresh + short + hour * self.cache_hour + read * self.cache_read

    def worst(self, input_tokens: int, output_tokens: int, *, hour: bool = False) -> float:
        """USD when nothing is read from cache and every output token is used."""
        return self.cost(0, input_tokens, 0, output_tokens, input_tokens if hour else 0)


# Published list prices, longest prefix wins. Haiku 5.5 is charged by prompt length: the higher
# band stands here, so a budget is never overrun.
PRICES: Mapping[str, Price] = {
    "claude-fable-5": Price(10, 50),
    "claude-fable-5-1": Price(10, 50, cache_read=0.025),
    "claude-mythos-5": Price(10, 50),
    "claude-mythos-5-1": Price(10, 50, cache_read=0.025),
    "claude-opus-5-5": Price(4, 20, cache_read=0.05),
    "claude-opus-5": Price(5, 25),
    "claude-opus-4-8": Price(5, 25),
    "claude-opus-4-7": Price(5, 25),
    "claude-opus-4-6": Price(5, 25),
    "claude-opus-4-5": Price(5, 25),
    "claude-opus-4": Price(15, 75),
    "claude-sonnet-5-5": Price(2, 10, cache_read=0.05),
    "claude-sonnet-5": Price(2, 10),
    "claude-sonnet-4": Price(3, 15),
    "claude-3-7-sonnet": Price(3, 15),
    "claude-haiku-5-5": Price(0.5, 2.5),
    "claude-haiku-4-5": Price(1, 5),
    "claude-3-5-haiku": Price(0.8, 4),
    "deepseek-chat": Price(0.28, 0.42, cache_write=1.0, cache_hour=1.0),
    "deepseek-reasoner": Price(0.28, 0.42, cache_write=1.0, cache_hour=1.0),
}


def read_prices(text: str) -> dict[str, Price]:
    """Prices from PRISM_PRICES: JSON {model: [input, output]}, "" is none.

    Raises PriceUnknown with the expected form when the text is anything else.
    """
    form = 'PRISM_PRICES must be JSON like {"model-name": [3.0, 15.0]}: USD per million tokens'
    try:
        data = json.loads(text or "{}")
        prices = {model: Price(float(pair[0]), float(pair[1])) for model, pair in data.items()}
    except (ValueError, TypeError, AttributeError, IndexError, KeyError):
        raise PriceUnknown(f"{form}, input before output.") from None
    if any(price.input_usd <= 0 or price.output_usd <= 0 for price in prices.values()):
        raise PriceUnknown(f"{form}, both greater than 0.")
    return prices


def price_of(model: str, overrides: Mapping[str, Price] | None = None) -> Price:
    """The price of a model: an override by exact name, else the longest known prefix.

    Names of Bedrock (`us.anthropic.claude-…-v1:0`) and Vertex (`claude-…@20250929`) count as well.
    Raises PriceUnknown with what to set when there is none.
    """
    if overrides and model in overrides:
        return overrides[model]
    plain = plain_name(model)
    known = [prefix for prefix in PRICES if plain == prefix or plain.startswith(f"{prefix}-")]
    if not known:
        raise PriceUnknown(
            f"No price is known for the model {model!r}, so its cost cannot be limited. Set "
            f'PRISM_PRICES to {{"{model}": [input, output]}} in USD per million tokens.'
        )
    return PRICES[max(known, key=len)]


def plain_name(model: str) -> str:
    """The name as Anthropic's own API has it: without a cloud's prefix, date mark and version."""
    name = model.rpartition("anthropic.")[2] if "anthropic." in model else model
    return re.sub(r"-v\d+(:\d+)?$", "", name).replace("@", "-")
