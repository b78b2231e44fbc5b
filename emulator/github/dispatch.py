"""Carry out one REST request: fault, caller, rate limit, check, act, check the answer, log."""

import asyncio
import json
import uuid
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from emulator.github import validation
from emulator.github.api import Answer, Call, Caller, Endpoint
from emulator.github.auth import admit, caller_of
from emulator.github.errors import DOCUMENTATION, Refused, not_found
from emulator.github.faults import Fault
from emulator.github.git_store import GitFailed
from emulator.github.paging import page
from emulator.github.records import Repository
from emulator.github.state import State

API = "/api/v3"


async def respond(state: State, endpoint: Endpoint | None, request: Request) -> Response:
    """Answer a REST request; `endpoint` is None for an address that does not exist."""
    raw = await request.body()
    path = request.url.path.removeprefix(API)
    fault = state.faults.take(request.method, path)
    if fault is not None and fault.delay_s:
        await asyncio.sleep(fault.delay_s)
    return await asyncio.to_thread(_locked, state, endpoint, request, raw, fault)


def _locked(
    state: State, endpoint: Endpoint | None, request: Request, raw: bytes, fault: Fault | None
) -> Response:
    with state.lock:
        request_id = uuid.uuid4().hex.upper()
        caller = Caller("anonymous")
        try:
            caller = caller_of(state, request.headers)
            response = _perform(state, endpoint, request, raw, caller, fault)
        except Refused as refused:
            response = _json(refused.status, refused.body(), dict(refused.headers))
        except GitFailed as failed:
            complaint = f"{request.method} {request.url.path}: git failed: {failed}"
            state.violations.append(complaint)
            response = PlainTextResponse(complaint, 500)
        response.headers["X-GitHub-Request-Id"] = request_id
        response.headers["X-GitHub-Media-Type"] = "github.v3; format=json"
        response.headers.update(_rate_headers(state, caller))
        _log(state, request, response, caller, endpoint, request_id)
        return response


def _perform(
    state: State,
    endpoint: Endpoint | None,
    request: Request,
    raw: bytes,
    caller: Caller,
    fault: Fault | None,
) -> Response:
    _spend(state, caller)
    if fault is not None and fault.status and not fault.after_commit:
        return _failed(fault)
    if endpoint is None:
        raise not_found()
    repo = _repository(state, request)
    if repo is not None and _renamed(repo, request):
        admit(state, caller, endpoint, repo)
        where = f"{state.url}{API}/repositories/{repo.id}"
        if request.method == "GET":
            return RedirectResponse(where, 301)
    admit(state, caller, endpoint, repo)
    path = validation.read_path(endpoint.operation, request.path_params)
    query = validation.read_query(endpoint.operation, request.query_params)
    body = validation.read_body(endpoint.operation, raw)
    call = Call(state, caller, path, query, body, request.headers, repo)
    answer = page(call, endpoint.run(call), str(request.url.path))
    if fault is not None and fault.status:
        return _failed(fault)
    return _checked(state, endpoint, answer)


def _failed(fault: Fault) -> Response:
    body = {"message": fault.message, "documentation_url": DOCUMENTATION}
    return _json(fault.status, body, dict(fault.headers))


def _checked(state: State, endpoint: Endpoint, answer: Answer) -> Response:
    complaint = validation.violation(endpoint.operation, answer.status, answer.body)
    if complaint is not None:
        state.violations.append(complaint)
        return PlainTextResponse(f"The emulator broke GitHub's description: {complaint}", 500)
    if answer.status == 204:
        return Response(status_code=204)
    return _json(answer.status, answer.body, dict(answer.headers))


def _json(status: int, body: Any, headers: dict[str, str]) -> Response:
    content = json.dumps(body, ensure_ascii=False).encode()
    return Response(content, status, headers, "application/json; charset=utf-8")


def _repository(state: State, request: Request) -> Repository | None:
    names = request.path_params
    if "owner" not in names or "repo" not in names:
        return None
    return state.repository(names["owner"], names["repo"])


def _renamed(repo: Repository, request: Request) -> bool:
    return repo.name.lower() != str(request.path_params["repo"]).lower()


def _spend(state: State, caller: Caller) -> None:
    if caller.token is None:
        return
    spent = state.spent[caller.token.value] = state.spent.get(caller.token.value, 0) + 1
    if spent > state.rate_limit:
        raise Refused(403, f"API rate limit exceeded for {caller.label.replace(':', ' ID ')}.")


def _rate_headers(state: State, caller: Caller) -> dict[str, str]:
    spent = 0 if caller.token is None else state.spent.get(caller.token.value, 0)
    # GitHub's window is an hour from the first call; ours ends at the next full hour.
    now = int(state.now().timestamp())
    return {
        "X-RateLimit-Limit": str(state.rate_limit),
        "X-RateLimit-Used": str(min(spent, state.rate_limit)),
        "X-RateLimit-Remaining": str(max(state.rate_limit - spent, 0)),
        "X-RateLimit-Reset": str(now - now % 3600 + 3600),
        "X-RateLimit-Resource": "core",
    }


def _log(
    state: State,
    request: Request,
    response: Response,
    caller: Caller,
    endpoint: Endpoint | None,
    request_id: str,
) -> None:
    state.requests.append(
        {
            "method": request.method,
            "path": request.url.path.removeprefix(API),
            "query": request.url.query,
            "operation": None if endpoint is None else endpoint.operation,
            "status": response.status_code,
            "caller": caller.label,
            "time": state.now().isoformat(),
            "request_id": request_id,
        }
    )
