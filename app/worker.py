"""The worker process: engine, model and GitHub come together here."""

import asyncio
import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.admission.admit import admit
from app.admission.authorise import Admission
from app.admission.outcomes import ask_open
from app.github.client import GitHubApp
from app.github.errors import GitHubError
from app.jobs.contract import WorkerContext
from app.jobs.embedded import redis_url
from app.jobs.worker import run_worker
from app.ledger import outcomes, records
from app.ledger.engine import open_ledger
from app.logs import configure_logs
from app.models import open_traffic, require_models
from app.runner import Runner
from app.services import Backend, open_backend
from app.settings import Settings, SettingsError, require_data_dir
from sandbox.errors import SandboxError

log = structlog.get_logger(__name__)

PRUNE_EVERY_S = 900.0


def run_worker_process(settings: Settings) -> None:
    """Work until a signal; raises EngineUnavailable or SettingsError instead of starting."""
    configure_logs(settings)
    _require(settings)
    asyncio.run(_work(settings))


def _require(settings: Settings) -> None:
    """What the worker cannot do without. A missing model key is told on the issue instead."""
    if not settings.app_id or not settings.private_key:
        raise SettingsError(
            "The worker needs APP_ID and PRIVATE_KEY (or PRIVATE_KEY_PATH) of the GitHub App."
        )
    require_models(settings)
    require_data_dir(settings)


async def _work(settings: Settings) -> None:
    sandbox = open_backend(settings)
    engine = open_ledger(settings.database)
    try:
        log.info("sandbox", state=await sandbox.check_engine())
        with _only_worker(settings) as alone, redis_url(settings) as url:
            log.info("orphans removed", count=await sandbox.remove_orphans(alone=alone))
            github = GitHubApp(settings)
            sweeps = (
                asyncio.create_task(_sweep(sandbox, settings)),
                asyncio.create_task(_forget_records(engine, settings)),
                asyncio.create_task(_ask_outcomes(engine, github)),
            )
            try:
                async with open_traffic(settings, url) as traffic:
                    context = WorkerContext(
                        admit=partial(admit, Admission(engine, settings, github)),
                        run=Runner(settings, engine, github, sandbox, traffic),
                    )
                    await run_worker(settings, engine, url, context)
            finally:
                for sweep in sweeps:
                    sweep.cancel()
                await asyncio.gather(*sweeps, return_exceptions=True)
    finally:
        await sandbox.close()
        await engine.dispose()


async def _sweep(sandbox: Backend, settings: Settings) -> None:
    """Remove what a failed removal or a killed process left on the engine, for good.

    Every now and then also environments that nobody uses. An engine that does not answer is said
    once, and once more when it is back.
    """
    is_down = False
    prune_at = 0.0
    while True:
        await asyncio.sleep(settings.sweep_s)
        try:
            count = await sandbox.remove_orphans()
            if time.monotonic() >= prune_at:
                pruned = await sandbox.prune(settings.env_max_gb, settings.env_max_days)
                prune_at = time.monotonic() + PRUNE_EVERY_S
                if pruned:
                    log.info("environments removed", count=len(pruned))
        except SandboxError as error:
            if not is_down:
                log.warning("sandbox lost", error=str(error))
            is_down = True
            continue
        if is_down or count:
            log.info("orphans removed", count=count)
        is_down = False


async def _forget_records(engine: AsyncEngine, settings: Settings) -> None:
    """Delete records that are older than the operator keeps them, and whose owner is gone."""
    while True:
        await asyncio.sleep(PRUNE_EVERY_S)
        try:
            await outcomes.prune(engine)
            count = await records.prune(engine, settings.record_days)
        except (SQLAlchemyError, OSError) as error:
            log.warning("records not pruned", error=type(error).__name__)
            continue
        if count:
            log.info("records removed", count=count)


async def _ask_outcomes(engine: AsyncEngine, github: GitHubApp) -> None:
    """Find out what became of pull requests whose webhook did not arrive."""
    while True:
        await asyncio.sleep(PRUNE_EVERY_S)
        try:
            count = await ask_open(engine, github)
        except (SQLAlchemyError, OSError, GitHubError) as error:
            log.warning("outcomes not asked", error=type(error).__name__)
            continue
        if count:
            log.info("outcomes found", count=count)


@contextmanager
def _only_worker(settings: Settings) -> Iterator[bool]:
    """Whether no other worker uses the data folder; the sandbox looks for other users itself."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (settings.data_dir / "worker.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
