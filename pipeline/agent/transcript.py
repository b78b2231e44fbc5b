"""An agent's conversation: immutable, forkable, only ever extended at its end.

A fork shares its parent's bytes up to the fork point, so the model's prefix cache serves it.
"""

import json
from dataclasses import dataclass, replace

from pipeline.services import Json

CUT = 300  # characters of tool output a reviewer sees


@dataclass(frozen=True, slots=True)
class Turn:
    """One step: the assistant's blocks and what came back. Every tool call has its result.

    Several tool calls in parallel are one step. `user` holds tool results first, then text.
    """

    assistant: tuple[Json, ...]
    user: tuple[Json, ...]

    def __post_init__(self) -> None:
        calls = [block["id"] for block in self.assistant if block.get("type") == "tool_use"]
        results = [
            block["tool_use_id"] for block in self.user if block.get("type") == "tool_result"
        ]
        if calls != results:
            raise ValueError("Every tool call needs its result, in the order of the calls.")


@dataclass(frozen=True, slots=True)
class Transcript:
    """`opening` is the first message; `notes` are texts appended to it before any turn."""

    opening: str
    turns: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()

    def fork(self, keep: int) -> "Transcript":
        """The conversation after its first `keep` turns, 0 … len(turns)."""
        if not 0 <= keep <= len(self.turns):
            raise ValueError(f"Cannot keep {keep} of {len(self.turns)} turns.")
        return replace(self, turns=self.turns[:keep])

    def append(self, text: str) -> "Transcript":
        """Add a text to the end of the last user message; nothing before it changes."""
        if not self.turns:
            return replace(self, notes=(*self.notes, text))
        last = self.turns[-1]
        grown = replace(last, user=(*last.user, {"type": "text", "text": text}))
        return replace(self, turns=(*self.turns[:-1], grown))

    def extend(self, turn: Turn) -> "Transcript":
        """Add a turn."""
        return replace(self, turns=(*self.turns, turn))

    def messages(self) -> tuple[Json, ...]:
        """Messages of the API, ending with a user message."""
        opening = [{"type": "text", "text": text} for text in (self.opening, *self.notes)]
        messages: list[Json] = [{"role": "user", "content": opening}]
        for turn in self.turns:
            messages.append({"role": "assistant", "content": list(turn.assistant)})
            messages.append({"role": "user", "content": list(turn.user)})
        return tuple(messages)

    def render(self) -> str:
        """The steps as text for a reviewer, each with its index; tool output is cut.

        Without the opening, which the reviewer is given in a place of its own.
        """
        steps = [f"[step {i}]\n{_render_turn(turn)}" for i, turn in enumerate(self.turns)]
        return "\n\n".join(steps)


def cut(text: str, limit: int = CUT) -> str:
    """At most `limit` characters: the first third and the last two thirds around a mark."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return f"{text[:head]} […] {text[-(limit - head) :]}"


def result_text(content: Json) -> str:
    """The text of a tool result's content, which is a text or blocks of text."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _render_turn(turn: Turn) -> str:
    return "\n".join(filter(None, map(_render_block, (*turn.assistant, *turn.user))))


def _render_block(block: Json) -> str:
    match block.get("type"):
        case "text":
            return str(block["text"])
        case "thinking":
            return str(block.get("thinking", ""))
        case "tool_use":
            return f"→ {block['name']} {json.dumps(block['input'], ensure_ascii=False)}"
        case "tool_result":
            return f"← {cut(result_text(block.get('content', '')))}"
        case _:
            return ""
