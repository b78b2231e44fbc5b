"""Plays a script through the whole recipe on the tiny repository of `tests.small`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.github.source import MirrorSource
from pipeline.journal import JsonLinesJournal
from pipeline.model.gateway import AnthropicModel
from pipeline.resolve import resolve
from pipeline.services import CodeIndex, PipelineStage, Recorder, RunConfig, Services
from pipeline.values import Decision, Task
from sandbox.process import ProcessSandbox
from tests import small
from tests.fakes import emulated_model


@dataclass
class Heard:
    """A Progress that keeps what it was told."""

    stages: list[tuple[str, int, int]] = field(default_factory=list)

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """Keep it."""
        self.stages.append((stage, done, total))


@dataclass
class Ran:
    """What a run left behind."""

    decision: Decision
    calls: list[dict[str, Any]]
    stages: list[tuple[str, int, int]]

    @property
    def addresses(self) -> list[str]:
        """Addresses of the calls, in order."""
        return [each["address"] for each in self.calls]


async def play(
    source: MirrorSource,
    folder: Path,
    script: dict[str, Any],
    journal: Path,
    limit_usd: float = 10.0,
    key: str = "key",
    config: RunConfig | None = None,
    faults: Sequence[Mapping[str, Any]] = (),
    *,
    index: CodeIndex | None = None,
    recorder: Recorder | None = None,
) -> Ran:
    """Play a script through the whole recipe; `faults` as the emulator takes them."""
    heard, ledger = Heard(), JsonLinesJournal(journal, limit_usd)
    sandbox = ProcessSandbox(data_dir=folder, allow=True)
    task = Task("calc", 1, small.TITLE, small.BODY, source.base_commit)
    with emulated_model(script) as url:
        async with httpx.AsyncClient() as client:
            for fault in faults:
                (await client.post(f"{url}/_emulator/faults", json=fault)).raise_for_status()
        async with AnthropicModel(
            key, url, "claude-sonnet-4-6", "", ledger, "run", recorder=recorder
        ) as model:
            services = Services(
                *("run", model, sandbox, source, ledger, ledger, heard, config or RunConfig()),
                index=index,
                recorder=recorder,
            )
            decision = await resolve(task, services)
        async with httpx.AsyncClient() as client:
            calls = (await client.get(f"{url}/_emulator/calls")).json()
    return Ran(decision, calls, heard.stages)
