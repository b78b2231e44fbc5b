"""Cache usage is computed from what was really sent."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emulator.model.cache import LIFETIME_S, MIN_TOKENS, PrefixCache

LONG = "x" * 4 * MIN_TOKENS


def body(*blocks: tuple[str, bool], model: str = "m") -> dict[str, Any]:
    """One user message of text blocks, some of them breakpoints."""
    content = [
        {"type": "text", "text": text, **({"cache_control": {"type": "ephemeral"}} if mark else {})}
        for text, mark in blocks
    ]
    return {"model": model, "messages": [{"role": "user", "content": content}]}


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=9), st.booleans()), min_size=1, max_size=6),
    st.integers(0, 3),
)
def test_the_parts_add_up(blocks: list[tuple[str, bool]], times: int) -> None:
    """Uncached, written and read tokens are the whole input, however often it was sent."""
    cache, request = PrefixCache(), body((LONG, True), *blocks)
    totals = set()
    for _ in range(times + 1):
        usage = cache.usage(request)
        written = usage.pop("cache_creation")
        assert sum(written.values()) == usage["cache_creation_input_tokens"]
        totals.add(sum(usage.values()))
    assert len(totals) == 1


def test_a_longer_conversation_reads_its_beginning() -> None:
    """Only what is new since the last breakpoint is written."""
    cache = PrefixCache()
    first = cache.usage(body((LONG, True)))
    second = cache.usage(body((LONG, False), ("new", False), ("end", True)))
    assert first["cache_read_input_tokens"] == 0
    assert second["cache_read_input_tokens"] == first["cache_creation_input_tokens"]
    assert 0 < second["cache_creation_input_tokens"] < 40


def test_another_beginning_reads_nothing() -> None:
    """One changed byte before the breakpoint is another prefix; so is another model."""
    cache = PrefixCache()
    cache.usage(body((LONG, True)))
    assert cache.usage(body((LONG + "y", True)))["cache_read_input_tokens"] == 0
    assert cache.usage(body((LONG, True), model="n"))["cache_read_input_tokens"] == 0


def test_a_short_prefix_is_not_cached() -> None:
    """Below 1024 tokens nothing is written."""
    cache = PrefixCache()
    cache.usage(body(("short", True)))
    assert cache.usage(body(("short", True)))["cache_read_input_tokens"] == 0


def test_entries_die_after_five_minutes_without_use() -> None:
    """Every use starts the time again."""
    now = 0.0
    cache, request = PrefixCache(clock=lambda: now), body((LONG, True))
    cache.usage(request)
    now += LIFETIME_S["5m"]
    assert cache.usage(request)["cache_read_input_tokens"] > 0
    now += LIFETIME_S["5m"] + 1
    assert cache.usage(request)["cache_read_input_tokens"] == 0


def test_an_entry_may_live_an_hour() -> None:
    """It says so in the usage, and a later breakpoint of five minutes does not shorten it."""
    now = 0.0
    cache, request = PrefixCache(clock=lambda: now), body((LONG, True))
    long = body((LONG, True))
    long["messages"][0]["content"][0]["cache_control"]["ttl"] = "1h"
    usage = cache.usage(long)
    assert usage["cache_creation"]["ephemeral_1h_input_tokens"] > 0
    assert usage["cache_creation"]["ephemeral_5m_input_tokens"] == 0
    now += 3000
    assert cache.usage(request)["cache_read_input_tokens"] > 0
    now += 3000
    assert cache.usage(request)["cache_read_input_tokens"] > 0
    now += 3601
    assert cache.usage(request)["cache_read_input_tokens"] == 0


def test_looking_back_ends_after_twenty_blocks() -> None:
    """As with the API, a breakpoint too far back is not found without one nearby."""
    cache = PrefixCache()
    cache.usage(body((LONG, True)))
    near = body((LONG, False), *[("b", False)] * 18, ("e", True))
    far = body((LONG, False), *[("c", False)] * 30, ("e", True))
    assert cache.usage(near)["cache_read_input_tokens"] > 0
    assert cache.usage(far)["cache_read_input_tokens"] == 0
