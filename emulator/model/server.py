"""An Anthropic Messages endpoint that plays a script by call address.

`POST /v1/messages` (JSON and SSE; also at the addresses of Vertex and Bedrock, see `clouds`), `POST
/v1/messages/count_tokens`; steering under `/_emulator`:
`GET calls`, `POST faults {kind, address?, times?, retry_after?, after_bytes?, message?}`,
`POST hold {address}`, `POST release {address}`, `POST script {…}`, `POST reset`. Addresses of
faults and holds are shell patterns. Without a key, or with the key "refused", the answer is 401.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from emulator.model.cache import PrefixCache, tokens
from emulator.model.clouds import BEDROCK, VERTEX, frames, plain_body
from emulator.model.control import Control, Fault
from emulator.model.script import ScriptError, answer, answering, checked, usage
from emulator.model.sse import event, events
from emulator.model.validation import Invalid, cacheable, check

Json = Any

REFUSED_KEY = "refused"
STATUS_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


def create_app(script: Mapping[str, Json], delay_s: float = 0.0) -> Starlette:
    """The emulator over one script; `delay_s` passes before every answer.

    Raises ScriptError when the script cannot be played.
    """
    server = _Server(checked(script), delay_s)
    return Starlette(
        routes=[
            Route("/v1/messages", server.messages, methods=["POST"]),
            Route(VERTEX, server.vertex, methods=["POST"]),
            Route(BEDROCK, server.bedrock, methods=["POST"]),
            Route("/v1/messages/count_tokens", server.count_tokens, methods=["POST"]),
            Route("/healthz", server.healthz),
            Route("/_emulator/calls", server.calls),
            Route("/_emulator/{order}", server.steer, methods=["POST"]),
        ]
    )


class _Server:
    def __init__(self, script: dict[str, Json], delay_s: float) -> None:
        self.script = script
        self.delay_s = delay_s
        self.cache = PrefixCache()
        self.control = Control()

    async def healthz(self, _request: Request) -> Response:
        return JSONResponse({"ok": True})

    async def calls(self, _request: Request) -> Response:
        return JSONResponse(self.control.calls)

    async def count_tokens(self, request: Request) -> Response:
        if not _key(request):
            return _error(401, "x-api-key header is required")
        body = await _json(request)
        try:
            check({"max_tokens": 1, **body})
        except Invalid as error:
            return _error(400, str(error))
        return JSONResponse({"input_tokens": sum(map(tokens, cacheable(body)))})

    async def messages(self, request: Request) -> Response:
        return await self._play(request, await _json(request))

    async def vertex(self, request: Request) -> Response:
        return await self._play(request, await _of_cloud(request))

    async def bedrock(self, request: Request) -> Response:
        response = await self._play(request, await _of_cloud(request))
        if not isinstance(response, StreamingResponse):
            return response
        return StreamingResponse(
            frames(cast("AsyncIterator[bytes]", response.body_iterator)),
            media_type="application/vnd.amazon.eventstream",
        )

    async def _play(self, request: Request, body: Json) -> Response:
        address = request.headers.get("x-prism-call", "")
        model = body.get("model") if isinstance(body, dict) else None
        entry = self.control.begin(
            request.headers.get("x-prism-run", ""),
            address,
            request.headers.get("x-prism-attempt", "1"),
            str(model or ""),
        )
        await self.control.pass_holds(address)
        await asyncio.sleep(self.delay_s)
        response = self._answered(request, body, address, entry)
        entry["status"] = response.status_code
        return response

    def _answered(self, request: Request, body: Json, address: str, entry: Json) -> Response:
        refused = _refused(request, body, address)
        if refused is not None:
            return refused
        fault = self.control.next_fault(address)
        if fault is not None and fault.kind.isdigit():
            return _faulty(fault)
        found = _probe(body) or answer(self.script, address)
        if found is None:
            return _error(400, f"The script has no answer for the call {address!r}.")
        message = _message(body, *found)
        message["model"] = answering(self.script, address) or body["model"]
        counted = {**self.cache.usage(body), "output_tokens": tokens(message["content"])}
        message["usage"] = usage(self.script, address) or counted
        entry["usage"], entry["stop_reason"] = message["usage"], message["stop_reason"]
        if not body.get("stream"):
            return JSONResponse(message)
        if fault is not None:
            entry["stop_reason"] = fault.kind
        return StreamingResponse(_stream(message, fault), media_type="text/event-stream")

    async def steer(self, request: Request) -> Response:
        orders: dict[str, Callable[[Json], None]] = {
            "faults": self.control.order,
            "hold": lambda data: self.control.hold(data["address"]),
            "release": self._release,
            "script": self._replace_script,
            "reset": self._reset,
        }
        order = orders.get(request.path_params["order"])
        if order is None:
            return _error(404, f"The orders are: {', '.join(orders)}.")
        try:
            order(await _json(request))
        except (ValueError, TypeError, KeyError) as error:
            return _error(400, f"{type(error).__name__}: {error}")
        return JSONResponse({"ok": True})

    def _release(self, data: Json) -> None:
        if not self.control.release(data["address"]):
            raise ScriptError(f"Nothing is held at {data['address']!r}.")

    def _replace_script(self, data: Json) -> None:
        self.script = checked(data)

    def _reset(self, _data: Json) -> None:
        for pattern in list(self.control.holds):
            self.control.release(pattern)
        self.control, self.cache = Control(), PrefixCache()


def _refused(request: Request, body: Json, address: str) -> Response | None:
    key = _key(request)
    if not key:
        return _error(401, "x-api-key header is required")
    if key == REFUSED_KEY:
        return _error(401, "invalid x-api-key")
    try:
        check(body, goes_on=".more" in address)
    except Invalid as error:
        return _error(400, str(error))
    return None


def _message(body: Json, content: list[Json], stop_reason: str) -> Json:
    digest = hashlib.sha256(json.dumps([body["messages"], content]).encode()).hexdigest()
    return {
        "id": f"msg_{digest[:24]}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
    }


def _probe(body: Json) -> tuple[list[Json], str] | None:
    """A call of one output token asks whether the API works; no script needs to know it."""
    if body["max_tokens"] > 1:
        return None
    return [{"type": "text", "text": "ok"}], "max_tokens"


async def _stream(message: Json, fault: Fault | None) -> AsyncIterator[bytes]:
    limit = fault.after_bytes if fault and fault.kind != "no_usage" else None
    sent = 0
    for part in events(message, with_usage=fault is None or fault.kind != "no_usage"):
        if limit is not None and sent + len(part) > limit:
            break
        sent += len(part)
        yield part
    if fault is not None and fault.kind == "sse_error":
        error = {"type": "overloaded_error", "message": "Overloaded"}
        yield event("error", {"error": error})


def _faulty(fault: Fault) -> Response:
    status = int(fault.kind)
    kind = STATUS_TYPES.get(status, "api_error")
    response = _error(status, fault.message or f"{kind} on order")
    if fault.retry_after is not None:
        response.headers["retry-after"] = str(fault.retry_after)
    return response


def _error(status: int, message: str) -> Response:
    error = {"type": STATUS_TYPES.get(status, "api_error"), "message": message}
    return JSONResponse({"type": "error", "error": error}, status_code=status)


def _key(request: Request) -> str:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    return bearer or request.headers.get("x-api-key", "").strip()


async def _json(request: Request) -> Json:
    try:
        return json.loads(await request.body() or b"{}")
    except ValueError:
        return None


async def _of_cloud(request: Request) -> Json:
    return plain_body(await _json(request), request.path_params["model"])
