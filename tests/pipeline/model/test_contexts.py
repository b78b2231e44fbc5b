"""The longest conversation is what the smallest of the models takes."""

import pytest

from pipeline.model.contexts import CONTEXT_TOKENS, context_tokens


@pytest.mark.parametrize(
    ("models", "tokens"),
    [
        (["claude-sonnet-4-6"], CONTEXT_TOKENS),
        (["us.anthropic.claude-opus-4-6-v1:0"], CONTEXT_TOKENS),
        (["claude-sonnet-4-6", "deepseek-chat"], 108_000),
        (["somebody-elses-model"], 108_000),
    ],
)
def test_the_smallest_counts(models: list[str], tokens: int) -> None:
    """Unknown models are taken to be small."""
    assert context_tokens(models) == tokens
