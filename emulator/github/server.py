"""The web application of the emulated GitHub."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from emulator.github import admin, pages, smart_http
from emulator.github.api import Endpoint
from emulator.github.dispatch import API, respond
from emulator.github.endpoints import ENDPOINTS
from emulator.github.hub import GitHub

# Names that may hold a slash.
_WITH_SLASHES = ("ref", "path", "branch", "name", "tree_sha")
_METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE"]
Handler = Callable[[Request], Awaitable[Response]]


def create_app(state: GitHub) -> Starlette:
    """The whole site: `/api/v3`, git below `/{owner}/{repo}.git`, pages, `/_emulator`.

    `state.url` must be the address people and clients use before the first request.
    """
    return Starlette(
        routes=[
            *_rest_routes(state),
            *admin.routes(state),
            Route("/{owner}/{repo}.git/{rest:path}", _git(state), methods=["GET", "POST"]),
            *pages.routes(state),
        ]
    )


def _rest_routes(state: GitHub) -> list[Route]:
    # The most specific first: a name with slashes would swallow what follows it.
    ordered = sorted(ENDPOINTS, key=lambda each: _weight(each.path), reverse=True)
    routes = [
        Route(API + _pattern(each.path), _rest(state, each), methods=[each.method])
        for each in ordered
    ]
    routes.append(Route(API + "/repositories/{id:int}{rest:path}", _by_id(state), methods=_METHODS))
    routes.append(Route(API + "{rest:path}", _rest(state, None), methods=_METHODS))
    return routes


def _weight(path: str) -> tuple[int, int]:
    return len([part for part in path.split("/") if not part.startswith("{")]), len(path)


def _pattern(path: str) -> str:
    for name in _WITH_SLASHES:
        path = path.replace(f"{{{name}}}", f"{{{name}:path}}")
    return path


def _rest(state: GitHub, endpoint: Endpoint | None) -> Handler:
    async def handle(request: Request) -> Response:
        return await respond(state, endpoint, request)

    return handle


def _by_id(state: GitHub) -> Handler:
    async def handle(request: Request) -> Response:
        repo = state.repositories.get(request.path_params["id"])
        if repo is None:
            return await respond(state, None, request)
        rest = request.path_params["rest"] + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"{state.url}{API}/repos/{repo.full_name}{rest}", 307)

    return handle


def _git(state: GitHub) -> Handler:
    async def handle(request: Request) -> Response:
        return await smart_http.serve(state, request)

    return handle
