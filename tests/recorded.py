"""Recorded runs on the tiny repository, in this process: three candidates, every stage."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.github.source import MirrorSource, local_source
from pipeline.choose.calibration import Calibration
from pipeline.journal import JsonLinesJournal
from pipeline.model.gateway import AnthropicModel
from pipeline.resolve import resolve
from pipeline.services import PipelineStage, RunConfig, Services
from pipeline.values import Decision, Task
from sandbox.process import ProcessSandbox
from tests import small

CONFIG = RunConfig(n_global=1, n_local=1, n_synthesis=1)
KEY = "sk-key-of-the-test"


class _Deaf:
    """A Progress that hears nothing."""

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """Nothing."""


@dataclass(frozen=True)
class Desk:
    """A repository at its one commit, and where its environment is kept."""

    folder: Path
    source: MirrorSource

    def run(self, journal: Path, model_url: str, table: Calibration | None = None) -> Decision:
        """One process's work on the run, recorded into its journal."""
        return asyncio.run(self._run(journal, model_url, table))

    async def _run(self, journal: Path, model_url: str, table: Calibration | None) -> Decision:
        ledger = JsonLinesJournal(journal, 10.0, "run")
        task = Task("calc", 1, small.TITLE, small.BODY, self.source.base_commit)
        sandbox = ProcessSandbox(data_dir=self.folder, allow=True)
        async with AnthropicModel(
            KEY, model_url, "claude-sonnet-4-6", "", ledger, "run", recorder=ledger
        ) as model:
            services = Services(
                *("run", model, sandbox, self.source, ledger, ledger, _Deaf(), CONFIG),
                recorder=ledger,
                calibration=table,
            )
            return await resolve(task, services)


@contextmanager
def opened(folder: Path) -> Iterator[Desk]:
    """The tiny repository below `folder`."""
    tree = small.write_files(folder / "calc")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *command], cwd=tree, check=True)
    with local_source(tree) as source:
        yield Desk(folder / "environments", source)
