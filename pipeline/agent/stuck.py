"""Sees when an agent goes round in circles. Pure: the same turns always give the same answer.

Source: OpenHands' stuck detector (reliability.md §5). Its fifth pattern, a context that overflows
again and again, never comes to a turn: the loop ends it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.agent.transcript import Turn, result_text
from pipeline.model.wire import tool_calls

SAME_RESULT = 4
SAME_ERROR = 3
MONOLOGUE = 3
ALTERNATING = 6
LONGEST = max(SAME_RESULT, SAME_ERROR, MONOLOGUE, ALTERNATING)
MAX_WARNINGS = 3

# What differs between two runs of the same thing: durations, times of day, addresses in memory.
_NOISE = re.compile(
    r"\b\d+(?:\.\d+)?(?= ?(?:s|ms|us|µs|ns|sec|secs|seconds|minutes)\b)"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?|\b0x[0-9a-fA-F]+"
)


def circle_in(turns: Sequence[Turn]) -> str:
    """The pattern that the turns end with, in words that hold nothing of what they say; else "".

    The same calls with the same results four times in a row, the same error three times whatever
    was called, three answers without a call, or two steps in turn, three times each. Results
    count as the same when they differ by a duration, a time of day or an address only.
    """
    rows = [_row(turn) for turn in turns[-LONGEST:]]
    if _same([row if row.calls else None for row in rows], SAME_RESULT):
        return f"the same call had the same result {SAME_RESULT} times in a row"
    if _same([row.results if row.failed else None for row in rows], SAME_ERROR):
        return f"the same error came {SAME_ERROR} times in a row"
    if _same(["" if not row.calls else None for row in rows], MONOLOGUE):
        return f"{MONOLOGUE} answers in a row called no tool"
    last = rows[-ALTERNATING:]
    if len(last) == ALTERNATING and all(row.calls for row in last):
        one, other = last[::2], last[1::2]
        if len(set(one)) == len(set(other)) == 1:
            return f"the same two steps took turns, {ALTERNATING // 2} times each"
    return ""


@dataclass(frozen=True, slots=True)
class Warned:
    """The warnings an agent was given: how many, and at which of its turns the last one was."""

    count: int = 0
    last: int = 0

    def again(self, turn: int) -> "Warned":
        """After another warning at `turn`."""
        return replace(self, count=self.count + 1, last=turn)

    def is_final(self, turn: int) -> bool:
        """Whether a circle seen at `turn` ends the agent: the last warning was of no use."""
        return self.count > 0 and (turn - self.last <= LONGEST or self.count >= MAX_WARNINGS)


def warning(circle: str) -> str:
    """What an agent in a circle is told, once before it is ended."""
    return (
        f"You go round in circles: {circle}. Do something else: look in another place, try another "
        "edit, read the output you have. If nothing is left to try, hand in what you have. More "
        "of the same ends your work."
    )


@dataclass(frozen=True, slots=True)
class _Row:
    calls: str
    results: str
    failed: bool


def _row(turn: Turn) -> _Row:
    calls = [(block["name"], block["input"]) for block in tool_calls(turn.assistant)]
    found = [block for block in turn.user if block.get("type") == "tool_result"]
    texts = [_NOISE.sub("#", result_text(block.get("content", ""))) for block in found]
    failed = bool(found) and all(block.get("is_error", False) for block in found)
    return _Row(json.dumps(calls, sort_keys=True) if calls else "", "\n".join(texts), failed)


def _same(entries: Sequence[object], times: int) -> bool:
    """Whether the last `times` entries are there, equal, and none of them is None."""
    last = entries[-times:]
    return len(last) == times and last[0] is not None and all(each == last[0] for each in last)
