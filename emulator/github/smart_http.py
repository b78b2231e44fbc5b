"""git over HTTP on the same bare repositories, through `git http-backend`.

Authentication is Basic with any user name and a token as password: reading wants `contents:
read` (or a public repository), pushing `contents: write`, as in the REST API.
"""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from emulator.github.acts.pulls import heads_moved, open_heads
from emulator.github.api import Answer, Caller, Endpoint
from emulator.github.auth import admit, caller_of
from emulator.github.errors import Refused
from emulator.github.records import Repository
from emulator.github.state import State

CHALLENGE = {"WWW-Authenticate": 'Basic realm="GitHub"'}


def _nothing(_: object) -> Answer:
    return Answer()


_READ = Endpoint("GET git", _nothing, permissions=("contents",))
_WRITE = Endpoint("POST git", _nothing, permissions=("contents",), level="write")


async def serve(state: State, request: Request) -> Response:
    """Answer one request of git's HTTP protocol."""
    fault = state.faults.take(request.method, request.url.path)
    if fault is not None and fault.delay_s:
        await asyncio.sleep(fault.delay_s)
    if fault is not None and fault.status and not fault.after_commit:
        return PlainTextResponse(fault.message, fault.status)
    caller, entered = await asyncio.to_thread(_enter, state, request)
    if isinstance(entered, Refused):
        response: Response = PlainTextResponse(entered.message, entered.status)
        if entered.status == 401:
            response.headers.update(CHALLENGE)
    else:
        response = await _backend(state, entered.repo, request, caller)
        await asyncio.to_thread(_leave, state, entered, caller)
    if fault is not None and fault.status:
        response = PlainTextResponse(fault.message, fault.status)
    _log(state, request, response, caller)
    return response


@dataclass(frozen=True, slots=True)
class _Visit:
    repo: Repository
    heads: dict[str, str] | None  # of the open pull requests, before a push


def _enter(state: State, request: Request) -> tuple[Caller, _Visit | Refused]:
    caller = Caller("anonymous")
    service = request.query_params.get("service", "")
    pushes = "git-receive-pack" in (service, request.path_params["rest"])
    with state.lock:
        try:
            caller = caller_of(state, request.headers)
            repo = _admitted(state, request, caller, _WRITE if pushes else _READ)
        except Refused as refused:
            return caller, refused
        return caller, _Visit(repo, open_heads(state, repo) if pushes else None)


def _leave(state: State, visit: _Visit, caller: Caller) -> None:
    if visit.heads is None:
        return
    person = caller.token.user if caller.token is not None else None
    with state.lock:
        heads_moved(state, visit.repo, visit.heads, person or state.bot)


def _admitted(state: State, request: Request, caller: Caller, wanted: Endpoint) -> Repository:
    owner, name = request.path_params["owner"], request.path_params["repo"]
    try:
        repo = state.repository(owner, name)
        admit(state, caller, wanted, repo)
    except Refused as refused:
        if caller.kind == "anonymous":
            # git asks for a password only after a 401, also for what may not exist.
            raise Refused(401, "Authentication required") from refused
        raise
    return repo


async def _backend(state: State, repo: Repository, request: Request, caller: Caller) -> Response:
    # The whole body first: answering while it still arrives loses chunks of a push.
    with tempfile.TemporaryFile() as body:
        async for chunk in request.stream():
            body.write(chunk)
        size = body.tell()
        body.seek(0)
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            stdin=body,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(state, repo, request, caller, size),
        )
        out, errors = await process.communicate()
    head, _, content = out.partition(b"\r\n\r\n")
    if process.returncode != 0 or not head:
        return PlainTextResponse(errors.decode(errors="replace") or "git failed", 500)
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    return Response(content, status, headers)


def _environment(
    state: State, repo: Repository, request: Request, caller: Caller, size: int
) -> dict[str, str]:
    relative = repo.path.relative_to(state.data / "repositories")
    workflows = caller.kind != "installation" or caller.holds("workflows", "write")
    return {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_PROJECT_ROOT": str(Path(state.data, "repositories").resolve()),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{relative}/{request.path_params['rest']}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(size),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_USER": caller.label,
        "REMOTE_ADDR": "127.0.0.1",
        "MAY_CHANGE_WORKFLOWS": "yes" if workflows else "no",
    }


def _log(state: State, request: Request, response: Response, caller: Caller) -> None:
    state.requests.append(
        {
            "method": request.method,
            "path": request.url.path,
            "query": request.url.query,
            "operation": "git",
            "status": response.status_code,
            "caller": caller.label,
            "time": state.now().isoformat(),
            "request_id": "",
        }
    )
