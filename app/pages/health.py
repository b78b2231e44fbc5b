"""Is it there, is it alive, can it work: three answers for load balancers and people."""

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.jobs.queue import Queue, QueueUnavailable
from app.ledger.errors import NotMigrated
from app.ledger.migrate import require_migrated


def health_routes() -> list[Route]:
    """`/ping`, `/healthz` (the process), `/readyz` (what it needs)."""
    return [
        Route("/ping", _ping),
        Route("/healthz", _healthz),
        Route("/readyz", _readyz),
    ]


async def _ping(_: Request) -> Response:
    return PlainTextResponse("PONG")


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _readyz(request: Request) -> Response:
    """503 with the failing parts by name; GitHub and the model are not asked."""
    checks = {
        "database": await _database(request.state.engine),
        "redis": await _redis(request.state.queue),
    }
    ready = all(answer == "ok" for answer in checks.values())
    status = "ok" if ready else "unavailable"
    return JSONResponse({"status": status, **checks}, 200 if ready else 503)


async def _database(engine: AsyncEngine) -> str:
    try:
        await require_migrated(engine)
    except NotMigrated as error:
        return str(error)
    except (SQLAlchemyError, OSError) as error:
        return f"The database does not answer ({type(error).__name__})."
    return "ok"


async def _redis(queue: Queue) -> str:
    try:
        await queue.ping()
    except QueueUnavailable as error:
        return str(error)
    return "ok"
