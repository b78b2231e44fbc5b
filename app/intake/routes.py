"""The webhook: size cap, signature over raw bytes, a row in the inbox, then the answer.

No API call, no model and no text processing happens here; Redis may be down.
"""

import asyncio
import re
from collections.abc import Mapping

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.intake.events import Malformed, read_event
from app.intake.signature import is_signed
from app.jobs.queue import Queue, QueueUnavailable
from app.ledger import inbox
from app.settings import Settings

MAX_BODY_BYTES = 25 * 1024 * 1024  # GitHub's own cap
BODY_TIMEOUT_S = 15.0
_GUID = re.compile(r"[A-Za-z0-9-]{1,64}")

log = structlog.get_logger(__name__)


class _Answer(Exception):
    """Ends a request early with a status and a sentence."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def webhook_route(settings: Settings) -> Route:
    """The route of deliveries; expects `engine` and `queue` in the lifespan's state."""

    async def receive(request: Request) -> Response:
        engine: AsyncEngine = request.state.engine
        queue: Queue = request.state.queue
        try:
            return await _receive(request, settings, engine, queue)
        except _Answer as answer:
            return PlainTextResponse(answer.text, answer.status)

    return Route(settings.webhook_path, receive, methods=["POST"], max_body_size=MAX_BODY_BYTES)


async def _receive(
    request: Request, settings: Settings, engine: AsyncEngine, queue: Queue
) -> Response:
    name, guid, signature = _read_headers(request.headers)
    body = await _read_body(request)
    if not is_signed(settings.webhook_secret, body, signature):
        raise _Answer(401, "The signature does not match.")
    try:
        event = read_event(name, guid, body, settings.label)
    except Malformed as error:
        raise _Answer(400, str(error)) from None
    if event is None:
        return PlainTextResponse("ignored")
    delivery = inbox.Delivery(
        guid=guid,
        event=event.name,
        action=event.action,
        semantic_key=event.semantic_key,
        installation_id=event.installation_id,
        repository_id=event.repository_id,
        body=body,
    )
    return await _record(engine, queue, delivery)


async def _record(engine: AsyncEngine, queue: Queue, delivery: inbox.Delivery) -> Response:
    note = log.bind(
        delivery_id=delivery.guid,
        github_event=delivery.event,
        action=delivery.action,
        installation_id=delivery.installation_id,
    )
    try:
        known = await inbox.insert(engine, delivery)
    except SQLAlchemyError as error:
        note.error("delivery not recorded", error=type(error).__name__)
        raise _Answer(503, "The delivery could not be recorded; please redeliver it.") from None
    if known == "duplicate":
        note.info("delivery known already")
        return PlainTextResponse("known already")
    note.info("delivery recorded")
    return PlainTextResponse("queued", 202, background=BackgroundTask(_announce, queue, delivery))


async def _announce(queue: Queue, delivery: inbox.Delivery) -> None:
    """Wake a worker; when that fails the sweep finds the row."""
    try:
        await queue.admit(delivery.guid)
    except QueueUnavailable as error:
        log.warning("delivery waits for the sweep", delivery_id=delivery.guid, error=str(error))


def _read_headers(headers: Mapping[str, str]) -> tuple[str, str, str]:
    """Event, delivery id and signature; raises the answer when one is missing."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise _Answer(415, "Set the webhook's content type to application/json.")
    if not headers.get("x-hub-signature-256"):
        raise _Answer(401, "X-Hub-Signature-256 is missing.")
    name, guid = headers.get("x-github-event", ""), headers.get("x-github-delivery", "")
    if not name or not _GUID.fullmatch(guid):
        raise _Answer(400, "X-GitHub-Event or X-GitHub-Delivery is missing or malformed.")
    return name, guid, headers["x-hub-signature-256"]


async def _read_body(request: Request) -> bytes:
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            return await request.body()
    except TimeoutError:
        raise _Answer(408, f"The body did not arrive within {BODY_TIMEOUT_S:.0f} s.") from None
    except ClientDisconnect:
        raise _Answer(400, "The body is incomplete.") from None
