"""What one agent may use, whatever its run still has."""

from dataclasses import dataclass

from pipeline.model.contexts import CONTEXT_TOKENS
from pipeline.services import RunConfig


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """`turns` are calls of the model; `context_tokens` what one call may send, see `compaction`."""

    turns: int
    context_tokens: int = CONTEXT_TOKENS


def limits_of(config: RunConfig, turns: int) -> AgentLimits:
    """The limits of an agent with so many turns."""
    return AgentLimits(turns, config.context_tokens)
