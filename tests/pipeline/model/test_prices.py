"""Prices by the longest known prefix, overrides first, never a guess."""

import pytest

from pipeline.errors import PriceUnknown
from pipeline.model.prices import Price, price_of, read_prices


@pytest.mark.parametrize(
    ("model", "usd"),
    [
        ("claude-sonnet-4-6", (3, 15)),
        ("claude-sonnet-4-20250514", (3, 15)),
        ("claude-opus-4-1-20250805", (15, 75)),
        ("claude-opus-4-6", (5, 25)),
        ("claude-opus-5-5", (4, 20)),
        ("claude-haiku-4-5-20251001", (1, 5)),
        ("deepseek-chat", (0.28, 0.42)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", (3, 15)),
        ("anthropic.claude-opus-4-6-v1", (5, 25)),
        ("claude-haiku-4-5@20251001", (1, 5)),
    ],
)
def test_known_families(model: str, usd: tuple[float, float]) -> None:
    """Dated names have their family's price."""
    price = price_of(model)
    assert (price.input_usd, price.output_usd) == usd


@pytest.mark.parametrize("model", ["gpt-6", "claude-opus-6", "claude-sonnet-40", ""])
def test_an_unknown_model_has_no_price(model: str) -> None:
    """A newer family is not priced like an older one."""
    with pytest.raises(PriceUnknown, match="PRISM_PRICES"):
        price_of(model)


def test_overrides_come_first() -> None:
    """An operator's price wins over the table."""
    prices = read_prices('{"claude-sonnet-4-6": [1, 2], "own": [0.1, 0.2]}')
    assert price_of("claude-sonnet-4-6", prices) == Price(1, 2)
    assert price_of("own", prices) == Price(0.1, 0.2)
    assert read_prices("") == {}


@pytest.mark.parametrize("text", ["[]", "{", '{"m": 1}', '{"m": [1]}', '{"m": [0, 1]}', '"x"'])
def test_unreadable_prices_are_refused(text: str) -> None:
    """The message shows the form."""
    with pytest.raises(PriceUnknown, match="must be JSON like"):
        read_prices(text)


def test_cost_counts_each_kind_of_token() -> None:
    """One million of each: 1 + 1.25 + 0.1 times the input price, and the output price."""
    price = Price(2, 10)
    assert price.cost(10**6, 10**6, 10**6, 10**6) == pytest.approx(2 * 2.35 + 10)
    assert price.worst(10**6, 10**6) == pytest.approx(2.5 + 10)


def test_an_entry_that_lives_an_hour_costs_twice_the_input() -> None:
    """The hour's part of what was written is priced apart, and so is its worst case."""
    price = Price(2, 10)
    assert price.cost(0, 10**6, 0, 0, hour=10**6) == pytest.approx(4)
    assert price.cost(0, 10**6, 0, 0, hour=10**6 // 2) == pytest.approx(2 * (1.25 + 2) / 2)
    assert price.worst(10**6, 0, hour=True) == pytest.approx(4)
    assert price_of("deepseek-chat").worst(10**6, 0, hour=True) == pytest.approx(0.28)
