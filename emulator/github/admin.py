"""`/_emulator`: what a test or a demo in another process asks of the emulator itself."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from emulator.github.hub import GitHub

Handler = Callable[[Request], Awaitable[Response]]


def routes(state: GitHub) -> list[Route]:
    """The requests seen, the violations found, the faults ordered, the webhook's address."""
    return [
        Route("/_emulator/requests", _listing(state, "requests")),
        Route("/_emulator/violations", _listing(state, "violations")),
        Route("/_emulator/deliveries", _deliveries(state)),
        Route("/_emulator/faults", _faults(state), methods=["POST", "DELETE"]),
        Route("/_emulator/webhook", _webhook(state), methods=["POST"]),
        Route("/_emulator/install", _install(state), methods=["POST"]),
    ]


def _listing(state: GitHub, name: str) -> Handler:
    async def handle(_: Request) -> Response:
        return JSONResponse(list(getattr(state, name)))

    return handle


def _deliveries(state: GitHub) -> Handler:
    async def handle(_: Request) -> Response:
        shown = [
            {
                "id": each.id,
                "guid": each.guid,
                "event": each.event,
                "action": each.action,
                "redelivery": each.redelivery,
                "status": each.status,
                "status_code": each.status_code,
            }
            for each in list(state.webhooks.deliveries)
        ]
        return JSONResponse(shown)

    return handle


def _faults(state: GitHub) -> Handler:
    async def handle(request: Request) -> Response:
        if request.method == "DELETE":
            state.faults.clear()
            return Response(status_code=204)
        try:
            order = _order(await request.json())
            state.faults.add(**order)
        except (ValueError, TypeError, KeyError, re.error) as cause:
            return JSONResponse({"error": f"not a fault: {cause}"}, 422)
        return JSONResponse({"ordered": True}, 201)

    return handle


def _order(body: Any) -> dict[str, Any]:
    """{method, path_regex, what, times?, headers?, message?, delay_s?}"""
    if not isinstance(body, dict):
        raise TypeError("an object is needed")
    return {"method": body.pop("method"), "path_regex": body.pop("path_regex"), **body}


def _webhook(state: GitHub) -> Handler:
    async def handle(request: Request) -> Response:
        try:
            body = await request.json()
            url, secret = str(body["url"]), str(body["secret"])
        except (json.JSONDecodeError, TypeError, KeyError) as cause:
            return JSONResponse({"error": f"url and secret are needed: {cause}"}, 422)
        await asyncio.to_thread(state.webhook, url, secret, ping=bool(body.get("ping")))
        return JSONResponse({"url": url})

    return handle


def _install(state: GitHub) -> Handler:
    async def handle(_: Request) -> Response:
        """Install the App on all repositories, which announces it by webhook."""
        made = await asyncio.to_thread(state.install)
        return JSONResponse({"installation_id": made.id}, 201)

    return handle
