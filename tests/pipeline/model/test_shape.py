"""What an answer says of itself is believed only where it can be true."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.model.prices import Price
from pipeline.model.shape import is_same_model, oddity, read_usage
from pipeline.values import Usage

PRICE = Price(1.0, 1.0)
WORST = Usage(1, 1000, 0, 100, 0.002)


@pytest.mark.parametrize(
    "reported",
    [
        None,
        [],
        {},
        {"input_tokens": 1},
        {"input_tokens": -1, "output_tokens": 1},
        {"input_tokens": "many", "output_tokens": 1},
        {"input_tokens": True, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": -3},
        {"input_tokens": 1.5, "output_tokens": 1},
    ],
)
def test_a_usage_that_cannot_be_is_none(reported: Any) -> None:
    """Missing, negative and what is no number."""
    assert read_usage(reported, PRICE, hour=False) is None


NUMBERS = st.none() | st.integers() | st.floats() | st.text(max_size=3) | st.just({})
FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation")


@given(st.dictionaries(st.sampled_from(FIELDS), NUMBERS), st.booleans(), NUMBERS)
def test_whatever_is_reported_is_a_usage_or_none(reported: Any, hour: bool, model: Any) -> None:
    """Fuzzed: what is believed has no negative part, and what is odd is said in words."""
    usage = read_usage(reported, PRICE, hour=hour)
    if usage is not None:
        assert min(usage.input_tokens, usage.cached_tokens, usage.output_tokens) >= 0
        assert usage.cost_usd >= 0
    assert isinstance(oddity({"model": model}, "claude-sonnet-4-6", usage, WORST), str)


def test_entries_are_priced_by_how_long_they_live() -> None:
    """By the details where they are given, else by what was asked for."""
    given = {"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 10**6}

    def cost(hour: bool, **more: Any) -> float:
        found = read_usage({**given, **more}, PRICE, hour=hour)
        assert found is not None
        return found.cost_usd

    assert cost(hour=False) == pytest.approx(1.25)
    assert cost(hour=True) == pytest.approx(2.0)
    details = {"ephemeral_5m_input_tokens": 10**6, "ephemeral_1h_input_tokens": 0}
    assert cost(hour=True, cache_creation=details) == pytest.approx(1.25)


def test_what_is_reserved_bounds_what_is_believed() -> None:
    """A little above the reservation is an estimate's error, far above it is none."""
    answer = {"model": "claude-sonnet-4-6"}
    assert oddity(answer, "claude-sonnet-4-6", Usage(1, cost_usd=0.003), WORST) == ""
    assert "usage" in oddity(answer, "claude-sonnet-4-6", Usage(1, cost_usd=0.01), WORST)
    assert "no usage" in oddity(answer, "claude-sonnet-4-6", None, WORST)
    assert "claude-opus-4-8" in oddity({"model": "claude-opus-4-8"}, "x", Usage(), WORST)


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", True),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929", True),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5-20251001", True),
        ("arn:aws:bedrock:eu-west-1:1:application-inference-profile/x", "claude-opus-4-6", True),
        ("deepseek-chat", "deepseek-chat", True),
        ("deepseek-chat", "", True),
        ("claude-sonnet-4-6", "deepseek-chat", False),
        ("claude-sonnet-4", "claude-sonnet-4-6", False),
        ("claude-opus-4-8", "claude-haiku-4-5", False),
    ],
)
def test_one_model_has_many_names(asked: str, answered: str, same: bool) -> None:
    """Dates, clouds' prefixes and aliases aside, a name is a name."""
    assert is_same_model(asked, answered) is same
