"""The worker process: engine, model and GitHub come together here."""

import asyncio
from functools import partial

from app.admission.admit import admit
from app.admission.authorise import Admission
from app.github.client import GitHubApp
from app.jobs.contract import WorkerContext
from app.jobs.embedded import redis_url
from app.jobs.worker import run_worker
from app.ledger.engine import open_ledger
from app.logs import configure_logs
from app.runner import Runner
from app.services import open_backend
from app.settings import Settings, SettingsError
from pipeline.model.prices import price_of, read_prices


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
    price_of(settings.model, read_prices(settings.prices))


async def _work(settings: Settings) -> None:
    sandbox = open_backend(settings)
    engine = open_ledger(settings.database)
    github = GitHubApp(settings)
    try:
        with redis_url(settings) as url:
            context = WorkerContext(
                admit=partial(admit, Admission(engine, settings, github)),
                run=Runner(settings, engine, github, sandbox),
            )
            await run_worker(settings, engine, url, context)
    finally:
        await engine.dispose()
