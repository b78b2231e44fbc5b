"""References: branches and tags, moved in the bare repository."""

from typing import Any

from emulator.github import git_store
from emulator.github.acts.pulls import heads_moved, open_heads
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_found
from emulator.github.git_store import NO_SHA, GitFailed
from emulator.github.rest.commits import not_empty
from emulator.github.shapes import git as shapes

_HEADS = "refs/heads/"


def _shown(call: Call, name: str, sha: str) -> dict[str, Any]:
    kind = git_store.kind(call.repo.path, sha) or "commit"
    return shapes.reference(call.state, call.repo, name, sha, kind)


def get_ref(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/git/ref/{ref}: the exact name, without "refs/"."""
    not_empty(call)
    name = f"refs/{call.path['ref']}"
    sha = git_store.resolve(call.repo.path, name)
    if sha is None:
        raise not_found()
    return Answer(body=_shown(call, name, sha))


def matching_refs(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/git/matching-refs/{ref}: every name with this beginning."""
    not_empty(call)
    rows = git_store.references(call.repo.path, f"refs/{call.path['ref']}")
    return Answer(
        page_of=rows,
        show=lambda row: shapes.reference(call.state, call.repo, row[0], row[1], row[2]),
    )


def create_ref(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/git/refs"""
    not_empty(call)
    repo, name, sha = call.repo, str(call.body["ref"]), str(call.body["sha"])
    if not name.startswith("refs/") or name.count("/") < 2:
        raise Refused(
            422, "Reference name must start with 'refs/' and contain at least two slashes."
        )
    if not git_store.is_reference_name(name):
        raise Refused(422, f"{name} is not a valid ref name.")
    kind = git_store.kind(repo.path, sha)
    if kind is None or (name.startswith(_HEADS) and kind != "commit"):
        raise Refused(422, "Object does not exist")
    if git_store.resolve(repo.path, name) is not None:
        raise Refused(422, "Reference already exists")
    try:
        git_store.update_reference(repo.path, name, sha, NO_SHA)
    except GitFailed as cause:
        raise Refused(422, "Reference could not be created") from cause
    shown = _shown(call, name, sha)
    return Answer(201, shown, {"Location": shown["url"]})


def update_ref(call: Call) -> Answer:
    """PATCH /repos/{owner}/{repo}/git/refs/{ref}: only forward, unless `force`."""
    not_empty(call)
    repo, name, sha = call.repo, f"refs/{call.path['ref']}", str(call.body["sha"])
    before = git_store.resolve(repo.path, name)
    if before is None:
        raise Refused(422, "Reference does not exist")
    if git_store.kind(repo.path, sha) is None:
        raise Refused(422, "Object does not exist")
    if not call.body.get("force", False) and not git_store.is_ancestor(repo.path, before, sha):
        raise Refused(422, "Update is not a fast forward")
    heads = open_heads(call.state, repo)
    try:
        git_store.update_reference(repo.path, name, sha, before)
    except GitFailed as cause:
        raise Refused(409, "Reference was moved by somebody else") from cause
    heads_moved(call.state, repo, heads, call.actor)
    return Answer(body=_shown(call, name, sha))


def delete_ref(call: Call) -> Answer:
    """DELETE /repos/{owner}/{repo}/git/refs/{ref}"""
    not_empty(call)
    name = f"refs/{call.path['ref']}"
    if git_store.resolve(call.repo.path, name) is None:
        raise Refused(422, "Reference does not exist")
    git_store.delete_reference(call.repo.path, name)
    return Answer(204)


_GIT = "/repos/{owner}/{repo}/git"
_NEEDS = ("contents",)
ENDPOINTS = (
    Endpoint(f"GET {_GIT}/ref/{{ref}}", get_ref, permissions=_NEEDS),
    Endpoint(f"GET {_GIT}/matching-refs/{{ref}}", matching_refs, permissions=_NEEDS),
    Endpoint(f"POST {_GIT}/refs", create_ref, permissions=_NEEDS, level="write"),
    Endpoint(f"PATCH {_GIT}/refs/{{ref}}", update_ref, permissions=_NEEDS, level="write"),
    Endpoint(f"DELETE {_GIT}/refs/{{ref}}", delete_ref, permissions=_NEEDS, level="write"),
)
