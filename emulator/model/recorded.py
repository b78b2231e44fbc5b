"""A recorded run as a script: what `prism fix --record` or the ledger kept is played again.

An answer is found by its call's address. Of an item that was started several times the last
attempt is played, whatever attempt asks: the earlier ones never came to their end.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from emulator.model.script import Script, ScriptError, load
from pipeline.journal import read_events
from pipeline.recording import Record, recorded

Json = Any

UNREADABLE = {"type": "tool_use", "name": "answer", "input": '{"broken'}


def load_any(path: Path) -> Script:
    """The script in a file, written as one or recorded; raises ScriptError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ScriptError(f"{path} cannot be read as a script: {error}") from None
    return script_of(text) if is_recording(text) else load(path)


def is_recording(text: str) -> bool:
    """Whether a file's text is JSON lines of a journal, and not one JSON object of answers."""
    first = text.lstrip().partition("\n")[0]
    return any("event" in event for event in read_events(first))


def script_of(text: str) -> Script:
    """The script of a recorded run; raises ScriptError when the file holds no model call.

    Content, stop reason and tokens are those of the recorded answers. What they cost may be a
    little less than then: a record does not tell what was written to the cache. Tries without an
    answer are left out: the same fault is not to be had twice.
    """
    calls = [each for each in recorded(read_events(text)) if each.kind == "call"]
    if not calls:
        raise ScriptError(
            "The file is a journal without model calls. Only `prism fix --record` writes them."
        )
    last = _last_attempts(calls)
    script: Script = {}
    for each in calls:
        entry = _entry(each.data)
        if entry is not None and each.attempt == last[each.item]:
            script[each.address] = entry
    return script


def _last_attempts(calls: Iterable[Record]) -> Mapping[str, int]:
    last: dict[str, int] = {}
    for each in calls:
        last[each.item] = max(last.get(each.item, 0), each.attempt)
    return last


def _entry(data: Json) -> Json:
    """What to answer, None for a try that has no answer."""
    reply, stop = data["reply"], data["stop"]
    if reply is not None:
        return {"content": reply["content"], "stop_reason": stop, "usage": _usage(data["usage"])}
    if stop == "refusal":
        return {"content": [], "stop_reason": stop}
    if stop == "malformed":
        return {"content": [UNREADABLE], "stop_reason": "tool_use"}
    return None


def _usage(usage: Json) -> Json:
    """The API's words for it. What was written to the cache counts as fresh input."""
    return {
        "input_tokens": usage["input_tokens"] - usage["cached_tokens"],
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage["cached_tokens"],
        "output_tokens": usage["output_tokens"],
    }
