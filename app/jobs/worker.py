"""The worker process: takes wake-up calls from arq and works on runs the ledger gives it.

arq sees only short jobs. A `wake` claims its run and returns; the slice goes on as a task of
this process, so that neither arq's time limits nor a lost Redis can touch a run.
"""

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from arq.connections import ArqRedis
from arq.worker import Worker, func
from sqlalchemy.ext.asyncio import AsyncEngine

from app.jobs.contract import Times, WorkerContext
from app.jobs.deliveries import process_delivery
from app.jobs.queue import (
    QUEUE_NAME,
    Queue,
    QueueUnavailable,
    connect,
    deserialize,
    redis_settings,
    serialize,
)
from app.jobs.slice import work
from app.jobs.sweep import Wake, sweep_forever
from app.ledger import runs
from app.ledger.migrate import migrate
from app.settings import Settings

RUNS_AT_ONCE = 2  # per worker; each has up to max_parallel agents
JOB_TIMEOUT_S = 300  # of an admission; a wake takes milliseconds
_REDIS_RETRIES = 20
_RECONNECT_S = 2.0

log = structlog.get_logger(__name__)


async def run_worker(
    settings: Settings,
    engine: AsyncEngine,
    redis_url: str,
    context: WorkerContext,
    stop: asyncio.Event | None = None,
) -> None:
    """Work until SIGTERM, SIGINT or `stop`; then runs are given back and this returns.

    Brings the tables up to date first. Redis may come and go: meanwhile the sweep does both
    jobs without it.
    """
    await migrate(engine)
    stop = stop or asyncio.Event()
    worker = _Worker(settings, engine, Queue(redis_url), context)
    tasks = (
        asyncio.create_task(
            sweep_forever(
                engine, worker.call_admit, worker.call_wake, settings.sweep_s, worker.nudge
            )
        ),
        asyncio.create_task(_serve_arq(worker, redis_url)),
    )
    log.info("worker ready", worker=worker.name, pid=os.getpid())
    try:
        with _stopping_on_signals(stop):
            await _until_stopped(stop, tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await worker.close()
        log.info("worker stopped", worker=worker.name)


class _Worker:
    """The runs this process works on. `nudge` asks for a sweep: a place became free."""

    def __init__(
        self, settings: Settings, engine: AsyncEngine, queue: Queue, context: WorkerContext
    ) -> None:
        self.name = f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(3)}"
        self.nudge = asyncio.Event()
        self._times = Times(settings.lease_s, settings.sweep_s)
        self._engine = engine
        self._queue = queue
        self._context = context
        self._slices: dict[str, asyncio.Task[object]] = {}
        self._admitting: set[str] = set()
        self._claiming = asyncio.Lock()
        self._starts: set[asyncio.Task[None]] = set()
        self._closing = False

    async def admit(self, guid: str) -> None:
        """Admit a delivery unless this process is at it, and wake the runs it made."""
        if guid in self._admitting:
            return
        self._admitting.add(guid)
        try:
            with structlog.contextvars.bound_contextvars(delivery_id=guid):
                run_ids = await process_delivery(
                    self._engine, guid, self._context.admit, self._times
                )
        finally:
            self._admitting.discard(guid)
        for run_id in run_ids:
            await self.call_wake(run_id)

    async def wake(self, run_id: str) -> None:
        """Claim a run and start its slice; nothing happens without a free place or a claim."""
        start = asyncio.create_task(self._start(run_id))
        self._starts.add(start)
        start.add_done_callback(self._starts.discard)
        await asyncio.shield(start)  # a claim without its slice would count as a crash

    async def _start(self, run_id: str) -> None:
        async with self._claiming:
            if self._closing or run_id in self._slices or len(self._slices) >= RUNS_AT_ONCE:
                return
            claim = await runs.claim(self._engine, run_id, self.name, self._times.lease_s)
            if claim is None:
                return
            log.info("run claimed", run_id=run_id, epoch=claim.epoch, worker=self.name)
            with structlog.contextvars.bound_contextvars(run_id=run_id):
                slice_ = work(self._engine, claim, self._times, self._context.run)
                task: asyncio.Task[object] = asyncio.create_task(slice_)
            self._slices[run_id] = task
            task.add_done_callback(lambda done: self._forget(run_id, done))

    async def call_admit(self, guid: str) -> None:
        """Have some worker admit a delivery; this one when Redis does not answer."""
        await self._call(self._queue.admit, self.admit, guid)

    async def call_wake(self, run_id: str) -> None:
        """Have some worker claim a run; this one when Redis does not answer."""
        await self._call(self._queue.wake, self.wake, run_id)

    async def close(self) -> None:
        """Give every run back and wait until that is written down."""
        self._closing = True
        await asyncio.gather(*self._starts, return_exceptions=True)
        slices = list(self._slices.values())
        for task in slices:
            task.cancel()
        await asyncio.gather(*slices, return_exceptions=True)
        await self._queue.close()

    async def _call(self, remote: Wake, local: Wake, argument: str) -> None:
        try:
            await remote(argument)
        except QueueUnavailable:
            await local(argument)

    def _forget(self, run_id: str, task: asyncio.Task[object]) -> None:
        self._slices.pop(run_id, None)
        self.nudge.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("slice failed", run_id=run_id, exc_info=error)


def _arq_worker(worker: _Worker, pool: ArqRedis) -> Worker:
    async def admit(ctx: dict[Any, Any], *ids: Any, **_: Any) -> None:
        await worker.admit(str(ids[0]))

    async def wake(ctx: dict[Any, Any], *ids: Any, **_: Any) -> None:
        await worker.wake(str(ids[0]))

    return Worker(
        functions=[func(admit, name="admit"), func(wake, name="wake")],
        queue_name=QUEUE_NAME,
        redis_pool=pool,
        handle_signals=False,
        job_timeout=JOB_TIMEOUT_S,
        keep_result=0,
        max_tries=10_000,
        poll_delay=0.2,
        health_check_interval=15,
        allow_abort_jobs=False,
        job_serializer=serialize,
        job_deserializer=deserialize,
    )


async def _until_stopped(stop: asyncio.Event, tasks: Iterable[asyncio.Task[None]]) -> None:
    """Return when `stop` is set; raise what ended a task that must not end."""
    stopping = asyncio.create_task(stop.wait())
    try:
        done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
    for task in done - {stopping}:
        task.result()


async def _serve_arq(worker: _Worker, redis_url: str) -> None:
    """Poll Redis until cancelled; a poller that lost Redis for good is replaced, runs go on."""
    while True:
        try:
            pool = await connect(redis_settings(redis_url, retries=_REDIS_RETRIES))
        except QueueUnavailable as error:
            log.warning("redis does not answer", error=str(error))
        else:
            try:
                await _poll(_arq_worker(worker, pool))
            finally:
                await pool.aclose(close_connection_pool=True)
        await asyncio.sleep(_RECONNECT_S)


async def _poll(arq: Worker) -> None:
    """Return when Redis is lost; when cancelled, jobs under way stay in Redis."""
    polling = asyncio.create_task(arq.async_run())
    try:
        await asyncio.wait({polling})
    finally:
        arq.handle_sig(signal.SIGTERM)  # cancels polling and jobs
        ends = await asyncio.gather(polling, *arq.tasks.values(), return_exceptions=True)
    log.warning("redis lost", error=type(ends[0]).__name__)


@contextmanager
def _stopping_on_signals(stop: asyncio.Event) -> Iterator[None]:
    loop, signals = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
    for number in signals:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
