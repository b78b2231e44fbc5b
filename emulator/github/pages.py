"""Plain pages to look at issues and pull requests, and to act on them as the maintainer."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qs

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from emulator.github import git_store
from emulator.github.acts import issues as acts
from emulator.github.diff_view import files
from emulator.github.errors import Refused, not_found
from emulator.github.hub import GitHub
from emulator.github.markdown import render, title
from emulator.github.records import Issue, Repository
from emulator.github.rest.commits import commit_of
from emulator.github.shapes import pulls as pull_shapes
from emulator.github.shapes.accounts import moment

TEMPLATES = Path(__file__).parent / "templates"
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
LABEL = "prism-fix"
_CLOSES = re.compile(r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):? +#(\d+)\b", re.IGNORECASE)
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(TEMPLATES),
    autoescape=select_autoescape(),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["moment"] = moment
_ENVIRONMENT.globals["title"] = title
Handler = Callable[[Request], Awaitable[Response]]
Page = Callable[[GitHub, Request], Response]


def routes(state: GitHub) -> list[Route]:
    """The pages; a form posts back to the issue it stands on."""
    repo = "/{owner}/{repo}"
    return [
        Route("/", _page(state, home)),
        Route("/_emulator/static/{name}", static),
        Route(repo + "/issues", _page(state, issue_list)),
        Route(repo + "/issues/{number:int}", _page(state, conversation)),
        Route(repo + "/issues/{number:int}/labels", _form(state, label), methods=["POST"]),
        Route(repo + "/issues/{number:int}/comments", _form(state, comment), methods=["POST"]),
        Route(repo + "/pulls", _page(state, pull_list)),
        Route(repo + "/pull/{number:int}.diff", _page(state, plain_diff)),
        Route(repo + "/pull/{number:int}", _page(state, conversation)),
        Route(repo + "/commit/{sha}", _page(state, commit)),
        Route(repo + "/blob/{ref}/{path:path}", _page(state, blob)),
        Route(repo, _page(state, repository_home)),
    ]


def _page(state: GitHub, build: Page) -> Handler:
    async def handle(request: Request) -> Response:
        return await asyncio.to_thread(_built, state, request, build)

    return handle


def _built(state: GitHub, request: Request, build: Page) -> Response:
    with state.lock:
        try:
            return build(state, request)
        except Refused as refused:
            return PlainTextResponse(refused.message, refused.status)


def _form(state: GitHub, act: Callable[[GitHub, Request, dict[str, str]], None]) -> Handler:
    async def handle(request: Request) -> Response:
        # Another site's page must not act as the maintainer.
        if request.headers.get("origin", state.url) != state.url:
            return PlainTextResponse("Forms of other sites are refused", 403)
        fields = parse_qs((await request.body()).decode(errors="replace"))
        given = {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}

        def build(state: GitHub, request: Request) -> Response:
            act(state, request, given)
            page = str(request.url.path).rpartition("/")[0]
            return RedirectResponse(page, 303)

        return await asyncio.to_thread(_built, state, request, build)

    return handle


def _show(state: GitHub, template: str, **values: object) -> Response:
    text = _ENVIRONMENT.get_template(template).render(state=state, **values)
    return HTMLResponse(text, headers=SECURITY)


def _repo(state: GitHub, request: Request) -> Repository:
    return state.repository(request.path_params["owner"], request.path_params["repo"])


def _issue(state: GitHub, request: Request) -> tuple[Repository, Issue]:
    repo = _repo(state, request)
    found = repo.issues.get(request.path_params["number"])
    if found is None:
        raise not_found()
    return repo, found


async def static(request: Request) -> Response:
    """The style sheet and the script that keeps a conversation fresh."""
    name = request.path_params["name"]
    if name not in ("style.css", "live.js"):
        return PlainTextResponse("Not Found", 404)
    return FileResponse(TEMPLATES / name)


def home(state: GitHub, _: Request) -> Response:
    """All repositories."""
    return _show(state, "home.html", repositories=list(state.repositories.values()))


def repository_home(state: GitHub, request: Request) -> Response:
    """A repository leads to its issues."""
    repo = _repo(state, request)
    return RedirectResponse(f"/{repo.full_name}/issues")


def issue_list(state: GitHub, request: Request) -> Response:
    """The issues, newest first."""
    repo = _repo(state, request)
    rows = [each for each in reversed(repo.issues.values()) if each.pull is None]
    return _show(state, "list.html", repo=repo, rows=rows, tab="issues")


def pull_list(state: GitHub, request: Request) -> Response:
    """The pull requests, newest first."""
    repo = _repo(state, request)
    rows = list(state.pulls(repo))[::-1]
    return _show(state, "list.html", repo=repo, rows=rows, tab="pulls")


def conversation(state: GitHub, request: Request) -> Response:
    """An issue, or a pull request with its commits and its diff; each at its own address."""
    repo, issue = _issue(state, request)
    part = "issues" if issue.pull is None else "pull"
    if f"/{part}/" not in request.url.path:
        return RedirectResponse(f"/{repo.full_name}/{part}/{issue.number}")
    changed, commits = [], []
    if issue.pull is not None:
        pull_shapes.refresh(repo, issue.pull)
        changed = files(pull_shapes.diff(repo, issue.pull))
        commits = [
            git_store.read_commit(repo.path, sha) for sha in pull_shapes.commits(repo, issue.pull)
        ]
    checks = [
        each
        for each in repo.checks.values()
        if issue.pull is not None and each.head_sha == issue.pull.head_sha
    ]
    return _show(
        state,
        "conversation.html",
        repo=repo,
        issue=issue,
        tab="issues" if issue.pull is None else "pulls",
        files=changed,
        commits=commits,
        checks=checks,
        linked=_closing(state, repo, issue),
        label=LABEL,
        markdown=lambda text: render(text, f"/{repo.full_name}"),
    )


def _closing(state: GitHub, repo: Repository, issue: Issue) -> list[Issue]:
    return [
        each for each in state.pulls(repo) if str(issue.number) in _CLOSES.findall(each.body or "")
    ]


def plain_diff(state: GitHub, request: Request) -> Response:
    """The diff as text."""
    repo, issue = _issue(state, request)
    if issue.pull is None:
        raise not_found()
    pull_shapes.refresh(repo, issue.pull)
    return PlainTextResponse(pull_shapes.diff(repo, issue.pull), headers=SECURITY)


def commit(state: GitHub, request: Request) -> Response:
    """One commit with its diff against its first parent."""
    repo = _repo(state, request)
    sha = commit_of(repo, request.path_params["sha"])
    if sha is None:
        raise not_found()
    what = git_store.read_commit(repo.path, sha)
    before = what.parents[0] if what.parents else git_store.EMPTY_TREE
    text = git_store.git(repo.path, "diff", "--no-ext-diff", before, sha)
    changed = files(text.decode(errors="replace"))
    return _show(state, "commit.html", repo=repo, commit=what, files=changed, tab="")


def blob(state: GitHub, request: Request) -> Response:
    """A text file with numbered lines; `#L12` leads to line 12."""
    repo = _repo(state, request)
    sha = commit_of(repo, request.path_params["ref"])
    path = request.path_params["path"]
    found = None if sha is None else git_store.resolve(repo.path, f"{sha}:{path}")
    if found is None or git_store.kind(repo.path, found) != "blob":
        raise not_found()
    lines = git_store.read(repo.path, "blob", found).decode(errors="replace").splitlines()
    return _show(state, "blob.html", repo=repo, path=path, lines=lines, tab="")


def label(state: GitHub, request: Request, fields: dict[str, str]) -> None:
    """Put a label on, or take one off, as the maintainer."""
    repo, issue = _issue(state, request)
    name, unwanted = fields.get("label", "").strip(), fields.get("remove", "").strip()
    if name:
        acts.add_labels(state, repo, issue, [name], state.maintainer)
    if unwanted:
        acts.remove_label(state, repo, issue, unwanted, state.maintainer)


def comment(state: GitHub, request: Request, fields: dict[str, str]) -> None:
    """Comment as the maintainer."""
    repo, issue = _issue(state, request)
    acts.comment(state, repo, issue, fields.get("body", ""), state.maintainer)
