"""The shape in which records are stored: every message once, however often it is sent. Pure.

Each turn of an agent sends its whole conversation again, so records as they come would grow with
the square of the turns. Stored are nodes, {id: [parent, message]}, and a call names the node it
ends at; a fork's nodes hang on its parent's. System texts and tools are stored once as well.
A stored record brings along what was not stored before it, so that records are read in order.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pipeline.services import Json

ROOT = ""
_SHARED = ("system", "tools")


@dataclass(frozen=True, slots=True)
class Record:
    """One recorded event as it was given to `Recorder.record`."""

    kind: str
    address: str
    attempt: int
    data: Json

    @property
    def item(self) -> str:
        """`stage/item`, the journal item's address without the turn."""
        return self.address.rpartition("/")[0]


@dataclass(slots=True)
class Packer:
    """Makes stored data of records of one run; remembers what earlier ones brought along."""

    known: set[str] = field(default_factory=set)

    def pack(self, kind: str, data: Json) -> Json:
        """The stored form of `data`; only calls differ from what was given."""
        if kind != "call":
            return data
        packed = {name: value for name, value in data.items() if name not in {*_SHARED, "messages"}}
        texts = {name: _digest(data[name]) for name in _SHARED}
        nodes = list(_chain(data["messages"]))
        fresh = {texts[name]: data[name] for name in _SHARED if texts[name] not in self.known}
        new = {node: [parent, message] for node, parent, message in nodes if node not in self.known}
        self.known |= fresh.keys() | new.keys()
        return {**packed, **texts, "end": nodes[-1][0], "texts": fresh, "nodes": new}

    def learn(self, data: Json) -> None:
        """Remember what stored data brought along, after a restart."""
        if isinstance(data, Mapping):
            self.known |= data.get("texts", {}).keys() | data.get("nodes", {}).keys()


@dataclass(slots=True)
class Unpacker:
    """Gives records back as they were, from stored data in the order in which it was stored."""

    texts: dict[str, Json] = field(default_factory=dict)
    nodes: dict[str, tuple[str, Json]] = field(default_factory=dict)

    def unpack(self, kind: str, data: Json) -> Json:
        """What was given to `pack`; KeyError when an earlier record is missing."""
        if kind != "call":
            return data
        self.texts.update(data["texts"])
        self.nodes.update((node, (parent, said)) for node, (parent, said) in data["nodes"].items())
        left = {k: v for k, v in data.items() if k not in {"end", "texts", "nodes"}}
        shared = {name: self.texts[data[name]] for name in _SHARED}
        return {**left, **shared, "messages": self._messages(data["end"])}

    def _messages(self, end: str) -> list[Json]:
        messages = []
        while end != ROOT:
            end, message = self.nodes[end]
            messages.append(message)
        return messages[::-1]


def recorded(events: Iterable[Mapping[str, Json]]) -> Iterator[Record]:
    """The records among a journal's events, unpacked.

    A call whose conversation is not all there (its file was cut) is left out.
    """
    unpacker = Unpacker()
    for event in events:
        if event.get("event") != "record":
            continue
        try:
            data = unpacker.unpack(event["kind"], event["data"])
            yield Record(event["kind"], event["address"], event["attempt"], data)
        except (KeyError, TypeError, ValueError):
            continue


def record_event(kind: str, address: str, attempt: int, data: Json) -> dict[str, Json]:
    """The journal's event of a record; `data` in its stored form."""
    return {"event": "record", "kind": kind, "address": address, "attempt": attempt, "data": data}


def _chain(messages: Iterable[Json]) -> Iterator[tuple[str, str, Json]]:
    """(id, parent's id, message) from the first message on; an id stands for the whole prefix."""
    parent = ROOT
    for message in messages:
        node = _digest([parent, message])
        yield node, parent, message
        parent = node


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]
