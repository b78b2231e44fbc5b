"""Keeps a conversation within the model's context: old tool results are sent in short. Pure.

The transcript itself never changes, so a fork of it still begins with its parent's bytes, and the
journal keeps every text in full. Source: reliability.md §5, "compaction spirals".
"""

from dataclasses import dataclass, replace

from pipeline.agent.transcript import CUT, Transcript, Turn, cut, result_text
from pipeline.errors import PromptTooLong
from pipeline.model.wire import tokens_in
from pipeline.services import Json

MAX_COMPACTIONS = 2
NEWEST = 4  # turns that are always sent in full
GOAL = 0.5  # of what was there before: large steps, since each one costs a prefix of the cache
LEAST_FREED = 0.2
SHORTENED = "\n(shortened: an old result; call the tool again to see it)"


@dataclass(frozen=True, slots=True)
class Window:
    """What the model is sent of a transcript: the results of its first `shortened` turns in short.

    `limit` is in tokens, `fixed` those of system text and tools.
    """

    limit: int
    fixed: int = 0
    shortened: int = 0
    compactions: int = 0

    def messages(self, transcript: Transcript) -> tuple[Json, ...]:
        """Messages of the API. Between two compactions they only grow at their end."""
        old = tuple(_short(turn) for turn in transcript.turns[: self.shortened])
        return replace(transcript, turns=old + transcript.turns[self.shortened :]).messages()

    def fits(self, transcript: Transcript) -> bool:
        """Whether it can be sent as it is, by an estimate that is rather too high."""
        return self.fixed + tokens_in(self.messages(transcript)) <= self.limit

    def compacted(self, transcript: Transcript) -> "Window":
        """The same with more turns in short: from the oldest on until half is gone.

        Raises PromptTooLong after two compactions, and when less than a fifth would be gained.
        """
        if self.compactions == MAX_COMPACTIONS:
            raise PromptTooLong(
                f"The conversation outgrew the model's context {MAX_COMPACTIONS + 1} times."
            )
        before = tokens_in(self.messages(transcript))
        goal = GOAL * min(before, max(self.limit - self.fixed, 0))
        now, shortened = before, self.shortened
        while now > goal and shortened < len(transcript.turns) - NEWEST:
            turn = transcript.turns[shortened]
            now -= tokens_in(turn.user) - tokens_in(_short(turn).user)
            shortened += 1
        if before - now < LEAST_FREED * before:
            raise PromptTooLong(
                "The conversation does not fit into the model's context, and too little in it can "
                "be shortened."
            )
        return replace(self, shortened=shortened, compactions=self.compactions + 1)


def _short(turn: Turn) -> Turn:
    return replace(turn, user=tuple(map(_short_block, turn.user)))


def _short_block(block: Json) -> Json:
    if block.get("type") != "tool_result":
        return block
    text = result_text(block.get("content", ""))
    if len(text) <= CUT + 2 * len(SHORTENED):
        return block
    return {**block, "content": cut(text) + SHORTENED}
