"""How long a conversation each model takes, as far as it is published."""

from collections.abc import Iterable, Mapping

from pipeline.model.prices import plain_name

ANSWER = 20_000  # tokens that stay free for the answer and for what the estimate misses
UNKNOWN = 128_000
# Longer ones are sold for some of these, at another price; nobody gets them without asking.
CONTEXTS: Mapping[str, int] = {"claude": 200_000, "deepseek": 128_000}
CONTEXT_TOKENS = CONTEXTS["claude"] - ANSWER


def context_tokens(models: Iterable[str]) -> int:
    """The longest conversation that all of the models take, in tokens; at least one model."""
    return min(map(_context, models)) - ANSWER


def _context(model: str) -> int:
    plain = plain_name(model)
    return next((size for name, size in CONTEXTS.items() if plain.startswith(name)), UNKNOWN)
