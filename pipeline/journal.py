"""Journal and budget over one JSON-lines file: what the command line uses instead of SQL.

Every line is one event. A second start with the same file resumes: finished items are read
back, and reservations that were never settled count at their worst case. The file may hold
records as well (`pipeline.recording`): then the run can be played again without a model.
"""

import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pipeline.caps import Amount, Caps, require_room
from pipeline.errors import JournalOfAnotherRun
from pipeline.jsonable import from_json, to_json
from pipeline.recording import Packer, record_event
from pipeline.services import CallAddress, ItemRecord, Json, PipelineStage, RecordKind
from pipeline.values import Usage

_LOG = logging.getLogger(__name__)


def add_usage(left: Usage, right: Usage) -> Usage:
    """The sum of two usages, field by field."""
    return Usage(
        left.calls + right.calls,
        left.input_tokens + right.input_tokens,
        left.cached_tokens + right.cached_tokens,
        left.output_tokens + right.output_tokens,
        left.cost_usd + right.cost_usd,
    )


def read_events(text: str) -> Iterator[dict[str, Json]]:
    """The events in a journal's text, in order; half lines are left out."""
    for line in text.split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the half line of a process that was ended while writing
        if isinstance(event, dict):
            yield event


def _now() -> float:
    return round(time.time(), 3)


def _line(event: dict[str, Json]) -> str:
    """ASCII: a diff may hold bytes that are no UTF-8, and texts other ends of lines."""
    return json.dumps(event, separators=(",", ":")) + "\n"


def _amount(reserve: dict[str, Json]) -> Amount:
    stage, _, rest = reserve["address"].partition("/")
    usd, tokens = reserve["usd"], reserve.get("tokens", 0)
    return Amount(stage, reserve.get("role", ""), usd, tokens, f"{stage}/{rest.partition('/')[0]}")


class JsonLinesJournal:
    """Journal, Budget and Recorder in one append-only file; `limit_usd` is the run's budget.

    `caps` limit its tokens and the shares of its stages and roles.
    With `run` the file belongs to the run of that name: raises JournalOfAnotherRun for a file
    that is anything else, and leaves it as it was.
    """

    def __init__(
        self, path: Path, limit_usd: float, run: str = "", caps: Caps | None = None
    ) -> None:
        self._path = path
        self._limit_usd = limit_usd
        self._caps = caps or Caps()
        self._attempts: dict[str, int] = {}
        self._outputs: dict[str, Json] = {}
        self._open: dict[int, Amount] = {}
        self._settled: list[Amount] = []
        self._stages: dict[str, Usage] = {}
        self._handles = 0
        self._packer = Packer()
        self._recording = True
        self._torn = False
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._run = ""
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        self._load(text)
        named = {"event": "run", "run": run}
        is_new = _line(named).startswith(text)  # empty, or ended while its first line was written
        if run and self._run != run and not is_new:
            raise JournalOfAnotherRun(f"{path} is not the journal of this issue at this commit.")
        if text and not text.endswith("\n"):
            self._append("\n")  # what comes next must not be lost with the half line
        path.touch(mode=0o600)  # it quotes the repository
        if run and is_new:
            self._write(named)

    async def start(self, stage: PipelineStage, item: str) -> ItemRecord:
        """See Journal.start."""
        name = f"{stage}/{item}"
        if name in self._outputs:
            return ItemRecord(self._attempts.get(name, 1), True, self._outputs[name])
        self._write({"event": "start", "item": name, "at": _now()})
        return ItemRecord(self._attempts[name], False)

    async def finish(self, stage: PipelineStage, item: str, output: Json) -> None:
        """See Journal.finish."""
        name = f"{stage}/{item}"
        self._write({"event": "finish", "item": name, "at": _now(), "output": output})

    async def reserve(
        self,
        address: CallAddress,
        request_hash: str,
        worst_usd: float,
        *,
        tokens: int = 0,
        role: str = "",
    ) -> int:
        """See Budget.reserve."""
        committed = (*self._settled, *self._open.values())
        wanted = Amount(address.stage, role, worst_usd, tokens, address.of)
        require_room(self._limit_usd, self._caps, committed, wanted)
        handle = self._handles + 1
        self._write(
            {
                "event": "reserve",
                "handle": handle,
                "address": str(address),
                "attempt": address.attempt,
                "request": request_hash,
                "usd": worst_usd,
                "tokens": tokens,
                "role": role,
            }
        )
        return handle

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        """See Budget.settle."""
        event = {"event": "settle", "handle": handle, "usage": to_json(usage), "stop": stop_reason}
        self._write(event)

    async def spent(self) -> Usage:
        """See Budget.spent."""
        total = Usage()
        for usage in self._stages.values():
            total = add_usage(total, usage)
        return total

    async def stages(self) -> dict[str, Usage]:
        """See Budget.stages."""
        return dict(self._stages)

    async def record(self, kind: RecordKind, address: str, attempt: int, data: Json) -> None:
        """See Recorder.record: what cannot be kept ends the recording, not the run."""
        if not self._recording:
            return
        try:
            packed = self._packer.pack(kind, data)
            self._write(record_event(kind, address, attempt, packed))
        except (OSError, TypeError, ValueError, RecursionError) as error:
            self._recording = False  # what follows could not be read without this one
            _LOG.warning("recording stopped: %s: %s (%s)", self._path, error, address)

    def _load(self, text: str) -> None:
        for event in read_events(text):
            self._apply(event)
        for lost in self._open.values():
            self._settle(lost, Usage(calls=1, cost_usd=lost.usd), lost.tokens)
        self._open.clear()

    def _settle(self, reserved: Amount, usage: Usage, tokens: int) -> None:
        stage = reserved.stage
        self._settled.append(replace(reserved, usd=usage.cost_usd, tokens=tokens))
        self._stages[stage] = add_usage(self._stages.get(stage, Usage()), usage)

    def _write(self, event: dict[str, Json]) -> None:
        self._append(_line(event))
        self._apply(event)

    def _append(self, text: str) -> None:
        with self._lock:
            start, self._torn = "\n" if self._torn else "", True
            with self._path.open("a", encoding="ascii") as file:
                file.write(start + text)
            self._torn = False  # a full disk takes half a line: the next starts a new one

    def _apply(self, event: dict[str, Json]) -> None:
        match event.get("event"):
            case "run":
                self._run = event["run"]
            case "start":
                self._attempts[event["item"]] = self._attempts.get(event["item"], 0) + 1
            case "finish":
                self._outputs[event["item"]] = event["output"]
            case "reserve":
                self._handles = max(self._handles, event["handle"])
                self._open[event["handle"]] = _amount(event)
            case "settle":
                usage = from_json(Usage, event["usage"])
                reserved = self._open.pop(event["handle"], Amount("", "", 0.0))
                self._settle(reserved, usage, usage.input_tokens + usage.output_tokens)
            case "record":
                self._packer.learn(event["data"])
