"""The web process: takes deliveries in and answers pages. Knows no model and no sandbox."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import structlog
import uvicorn
from starlette.applications import Starlette

from app.intake.routes import MAX_BODY_BYTES, webhook_route
from app.jobs.embedded import redis_url, require_redis
from app.jobs.queue import Queue
from app.ledger.engine import open_ledger
from app.ledger.migrate import migrate
from app.logs import configure_logs
from app.pages.health import health_routes
from app.pages.run import run_route
from app.settings import Settings, read_settings, require_data_dir, require_webhook_secret

log = structlog.get_logger(__name__)


def create_app(settings: Settings) -> Starlette:
    """The ASGI application.

    Raises SettingsError for a webhook secret that protects nothing and without any Redis.
    Its lifespan opens the ledger, brings the tables up to date and, without REDIS_URL, joins
    the embedded Redis of the data folder.
    """
    require_webhook_secret(settings)
    require_redis(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[Mapping[str, Any]]:
        with redis_url(settings) as url:
            engine, queue = open_ledger(settings.database), Queue(url)
            try:
                await migrate(engine)
                log.info("web process ready", port=settings.port)
                yield {"engine": engine, "queue": queue}
            finally:
                await queue.close()
                await engine.dispose()

    app = Starlette(
        routes=[webhook_route(settings), run_route(settings), *health_routes()],
        lifespan=lifespan,
        max_body_size=MAX_BODY_BYTES,
    )
    app.router.redirect_slashes = False  # one path, one answer; no redirect to a forged host
    return app


def serve(settings: Settings) -> None:
    """Run the web process until SIGTERM or SIGINT; blocks."""
    configure_logs(settings)
    app = create_app(settings)
    asyncio.run(_prepare(settings))
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        access_log=False,  # our own lines name the delivery
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


async def _prepare(settings: Settings) -> None:
    """Bring the tables up to date before uvicorn, which would tell a failure as a traceback."""
    require_data_dir(settings)
    engine = open_ledger(settings.database)
    try:
        await migrate(engine)
    finally:
        await engine.dispose()


def app_from_environment() -> Starlette:
    """For `uvicorn --factory app.web:app_from_environment`."""
    settings = read_settings()
    configure_logs(settings)
    return create_app(settings)
