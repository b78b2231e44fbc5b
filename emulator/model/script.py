"""A script: what the model answers at each address. Plain JSON, written by hand or by the builder.

{"<stage>/<item>/<turn>": [content blocks]} or {…: {"content": [content blocks], "stop_reason":
"…", "usage": {…}}}; without `usage` it is counted. Tool calls need no id. The same address is
answered the same every time.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = Any
Script = dict[str, Json]


class ScriptError(ValueError):
    """The script cannot be played; the message says where."""


def load(path: Path) -> Script:
    """Read and check a script; raises ScriptError."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ScriptError(f"{path} cannot be read as a script: {error}") from None
    return checked(data)


def save(script: Mapping[str, Json], path: Path) -> None:
    """Write a script as readable JSON."""
    text = json.dumps(checked(script), indent=1, ensure_ascii=False, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def checked(data: Json) -> Script:
    """The script itself when its form is right; raises ScriptError naming the address."""
    if not isinstance(data, Mapping):
        raise ScriptError("A script is a JSON object: address → answer.")
    for address, entry in data.items():
        if address.count("/") != 2:
            raise ScriptError(f"{address!r} is not an address of the form stage/item/turn.")
        content = entry.get("content") if isinstance(entry, Mapping) else entry
        if not isinstance(content, list):
            raise ScriptError(f"{address}: an answer is a list of content blocks.")
        for block in content:
            if not isinstance(block, Mapping) or "type" not in block:
                raise ScriptError(f"{address}: {block!r} is no content block.")
    return dict(data)


def usage(script: Mapping[str, Json], address: str) -> Json:
    """The usage an answer is to report, None when it is to be counted."""
    entry = script.get(address)
    return entry.get("usage") if isinstance(entry, Mapping) else None


def answer(script: Mapping[str, Json], address: str) -> tuple[list[Json], str] | None:
    """Content blocks (with ids for tool calls) and stop reason at an address, None when unknown."""
    entry = script.get(address)
    if entry is None:
        return None
    content = entry["content"] if isinstance(entry, Mapping) else entry
    stop = entry.get("stop_reason") if isinstance(entry, Mapping) else None
    blocks = [_with_id(block, address, n) for n, block in enumerate(content)]
    calls = any(block["type"] == "tool_use" for block in blocks)
    return blocks, stop or ("tool_use" if calls else "end_turn")


def answering(script: Mapping[str, Json], address: str) -> str:
    """The model that an entry says it comes from, "" = the one that was asked."""
    entry = script.get(address)
    return str(entry.get("model", "")) if isinstance(entry, Mapping) else ""


def _with_id(block: Json, address: str, index: int) -> Json:
    if block["type"] != "tool_use" or block.get("id"):
        return block
    return {**block, "id": f"toolu_{re.sub('[^a-zA-Z0-9]', '_', address)}_{index}"}
