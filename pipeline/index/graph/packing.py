"""A graph as bytes: its columns as they lie in memory, deflated. Nothing in them can be run."""

import hashlib
import json
import sys
import zlib
from array import array
from functools import cache
from pathlib import Path

from pipeline.index.graph.graph import Graph

_LEVEL = 1
_COLUMNS = (
    "sources",
    "targets",
    "kinds",
    "confidences",
    "lines",
    "aliases",
    "by_target",
    "group_starts",
    "group_members",
    "group_units",
    "group_numbers",
)


def pack(graph: Graph) -> bytes:
    """A graph as bytes."""
    columns: list[array[int]] = [getattr(graph, name) for name in _COLUMNS]
    head = {
        "order": sys.byteorder,
        "ids": graph.ids,
        "texts": graph.texts,
        "tests": len(graph.tests),
        "columns": [(c.typecode, c.itemsize * len(c)) for c in columns],
    }
    first = json.dumps(head, separators=(",", ":")).encode("ascii")
    body = b"".join([graph.tests, *(column.tobytes() for column in columns)])
    return zlib.compress(len(first).to_bytes(8, "big") + first + body, _LEVEL)


def load(data: bytes) -> Graph | None:
    """The graph that `pack` was given; None when it was written by another kind of machine."""
    whole = memoryview(zlib.decompress(data))
    at = 8 + int.from_bytes(whole[:8], "big")
    head = json.loads(bytes(whole[8:at]))
    if head["order"] != sys.byteorder:
        return None
    tests = bytes(whole[at : at + head["tests"]])
    at += head["tests"]
    columns: dict[str, array[int]] = {}
    for name, (code, size) in zip(_COLUMNS, head["columns"], strict=True):
        columns[name] = array(code)
        columns[name].frombytes(whole[at : at + size])
        at += size
    return Graph(ids=head["ids"], tests=tests, texts=head["texts"], **columns)


@cache
def version() -> str:
    """The kind under which graphs are kept: another one for other code of this folder."""
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return f"graph-{digest.hexdigest()[:12]}"
