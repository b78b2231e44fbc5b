"""The index of a run: built and made ready beside the set-up, opened when first asked for."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

import structlog

from app.github.errors import MirrorFailed
from app.github.source import MirrorSource
from app.index.opening import build_and_open
from pipeline.index.errors import IndexingFailed
from pipeline.index.graph import build_graph
from pipeline.index.rank.prepare import prepared
from pipeline.index.store import Index

log = structlog.get_logger(__name__)


class _Stopped(Exception):
    """The run has ended before its index was ready."""


@dataclass(slots=True)
class RunIndex:
    """Implements `pipeline.services.CodeIndex` for one run."""

    _data_dir: Path
    _source: MirrorSource
    _stop: Event = field(default_factory=Event)
    _task: "asyncio.Task[Index | None] | None" = None

    async def opened(self) -> Index | None:
        """The index of the base commit, waited for; None when it could not be built.

        Its graph and what ranking needs are ready then: every run asks for both first thing.
        """
        assert self._task is not None, "asked inside run_index only"
        return await asyncio.shield(self._task)

    async def _build(self) -> Index | None:
        return await asyncio.to_thread(self._build_blocking)

    def _build_blocking(self) -> Index | None:
        try:
            index, stats = build_and_open(self._data_dir, self._source, self._told)
        except _Stopped:
            return None
        except (IndexingFailed, MirrorFailed) as error:  # a run goes on without
            log.warning("no index", error=str(error))
            return None
        log.info("index built", count=stats.parsed, duration_s=round(stats.seconds, 3))
        self._make_ready(index)
        return index

    def _make_ready(self, index: Index) -> None:
        """What fails here fails again for those who need it, and is handled there."""
        start = time.monotonic()
        try:
            build_graph(index, self._told)
            prepared(index, self._told)
        except _Stopped:
            return
        except (IndexingFailed, MirrorFailed) as error:
            log.warning("index not made ready", error=str(error))
            return
        log.info("index ready", duration_s=round(time.monotonic() - start, 3))

    def _told(self, _done: int, _total: int) -> None:
        if self._stop.is_set():
            raise _Stopped


@asynccontextmanager
async def run_index(data_dir: Path, source: MirrorSource) -> AsyncIterator[RunIndex]:
    """Start building at once; at the end what still goes on is stopped and the index closed.

    What a stopped build parsed is kept for the next one.
    """
    running = RunIndex(data_dir, source)
    running._task = asyncio.create_task(running._build())
    try:
        yield running
    finally:
        running._stop.set()
        index = await running._task
        if index is not None:
            index.close()
