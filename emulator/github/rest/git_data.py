"""The git data API: blobs, trees and commits, written into the bare repository."""

import base64
import binascii
from datetime import datetime
from typing import Any

from emulator.github import git_store
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_accessible, not_found
from emulator.github.git_store import Commit, GitFailed, Signature
from emulator.github.git_tree import edit_tree
from emulator.github.rest.commits import not_empty
from emulator.github.shapes import git as shapes
from emulator.github.shapes.repositories import api_url

BLOB_BYTES = 100 * 1024 * 1024
WORKFLOWS = ".github/workflows/"
_KINDS = {"040000": "tree", "160000": "commit"}


def create_blob(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/git/blobs"""
    not_empty(call)
    text = str(call.body["content"])
    if call.body.get("encoding", "utf-8") == "base64":
        try:
            content = base64.b64decode("".join(text.split()), validate=True)
        except binascii.Error as cause:
            raise Refused(422, "content is not valid Base64") from cause
    else:
        content = text.encode()
    if len(content) > BLOB_BYTES:
        raise Refused(422, "The blob is too large.")
    sha = git_store.write(call.repo.path, "blob", content)
    url = f"{api_url(call.state, call.repo)}/git/blobs/{sha}"
    return Answer(201, {"sha": sha, "url": url}, {"Location": url})


def get_blob(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/git/blobs/{file_sha}"""
    not_empty(call)
    sha = call.path["file_sha"]
    if git_store.kind(call.repo.path, sha) != "blob":
        raise not_found()
    return Answer(body=shapes.blob(call.state, call.repo, sha))


def create_tree(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/git/trees: an entry with a null sha deletes its path."""
    not_empty(call)
    base = call.body.get("base_tree")
    if base is not None:
        base = git_store.resolve(call.repo.path, f"{base}^{{tree}}")
        if base is None:
            raise Refused(404, "base_tree is not a tree")
    entries = [_entry(call, each) for each in call.body["tree"]]
    if not entries:
        raise Refused(422, "Invalid tree info")
    try:
        sha = edit_tree(call.repo.path, base, entries)
    except GitFailed as cause:
        raise Refused(422, "GitRPC::BadObjectState") from cause
    shown = shapes.tree(call.state, call.repo, sha)
    return Answer(201, shown, {"Location": shown["url"]})


def _entry(call: Call, entry: dict[str, Any]) -> tuple[str, str, str | None]:
    path, mode, sha = entry.get("path"), entry.get("mode"), entry.get("sha")
    if not path or not _is_clean(path):
        raise Refused(422, "tree.path contains a malformed path component")
    if path.startswith(WORKFLOWS) and call.via_app and not call.caller.holds("workflows", "write"):
        raise not_accessible()
    if mode is None:
        raise Refused(422, "Must supply a valid tree.mode")
    if "content" in entry:
        if "sha" in entry:
            raise Refused(422, "Must supply either tree.sha or tree.content")
        return path, mode, git_store.write(call.repo.path, "blob", entry["content"].encode())
    if "sha" not in entry:
        raise Refused(422, "Must supply tree.sha or tree.content")
    wanted = _KINDS.get(mode, "blob")
    if sha is not None and wanted != "commit" and git_store.kind(call.repo.path, sha) != wanted:
        raise Refused(422, f"tree.sha {sha} is not a valid {wanted}")
    return path, mode, sha


def _is_clean(path: str) -> bool:
    parts = path.split("/")
    return "\0" not in path and not any(
        each in ("", ".", "..") or each.lower() == ".git" for each in parts
    )


def get_tree(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/git/trees/{tree_sha}: any value of `recursive` is recursive."""
    not_empty(call)
    sha = git_store.resolve(call.repo.path, f"{call.path['tree_sha']}^{{tree}}")
    if sha is None:
        raise not_found()
    return Answer(body=shapes.tree(call.state, call.repo, sha, recursive="recursive" in call.query))


def create_commit(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/git/commits

    GitHub signs it only for an App that names neither author nor committer.
    """
    not_empty(call)
    repo, body = call.repo, call.body
    if git_store.kind(repo.path, body["tree"]) != "tree":
        raise Refused(422, "Tree SHA does not exist")
    parents = body.get("parents", [])
    for each in parents:
        if git_store.kind(repo.path, each) != "commit":
            raise Refused(422, "Parent SHA does not exist or is not a commit object")
    author, committer = _people(call)
    sha = git_store.write_commit(
        repo.path, body["tree"], parents, str(body["message"]), author, committer
    )
    if call.via_app and "author" not in body and "committer" not in body:
        repo.signed[sha] = call.state.now()
    shown = shapes.git_commit(call.state, repo, _read(call, sha))
    return Answer(201, shown, {"Location": shown["url"]})


def _people(call: Call) -> tuple[Signature, Signature]:
    now = f"{int(call.state.now().timestamp())} +0000"
    actor = call.actor
    own = Signature(actor.name or actor.login, shapes.email_of(call.state, actor), now)
    flow = call.state.web_flow
    default = own
    if call.via_app and "author" not in call.body:
        default = Signature(flow.name or flow.login, flow.email or "", now)
    author = _signature(call.body.get("author"), own)
    committer = call.body.get("committer")
    if committer is not None:
        return author, _signature(committer, author)
    return author, author if "author" in call.body else default


def _signature(given: dict[str, str] | None, default: Signature) -> Signature:
    if given is None:
        return default
    date = default.date
    if "date" in given:
        when = datetime.fromisoformat(given["date"])
        date = f"{int(when.timestamp())} {when.strftime('%z') or '+0000'}"
    name, email = given.get("name", default.name), given.get("email", default.email)
    return Signature(_clean(name), _clean(email), date)


def _clean(text: str) -> str:
    return text.translate({ord(c): None for c in "<>\n\0"}).strip()


def get_commit(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/git/commits/{commit_sha}"""
    not_empty(call)
    return Answer(
        body=shapes.git_commit(call.state, call.repo, _read(call, call.path["commit_sha"]))
    )


def _read(call: Call, sha: str) -> Commit:
    if git_store.kind(call.repo.path, sha) != "commit":
        raise not_found()
    return git_store.read_commit(call.repo.path, sha)


_GIT = "/repos/{owner}/{repo}/git"
_NEEDS = ("contents",)
ENDPOINTS = (
    Endpoint(f"POST {_GIT}/blobs", create_blob, permissions=_NEEDS, level="write"),
    Endpoint(f"GET {_GIT}/blobs/{{file_sha}}", get_blob, permissions=_NEEDS),
    Endpoint(f"POST {_GIT}/trees", create_tree, permissions=_NEEDS, level="write"),
    Endpoint(f"GET {_GIT}/trees/{{tree_sha}}", get_tree, permissions=_NEEDS),
    Endpoint(f"POST {_GIT}/commits", create_commit, permissions=_NEEDS, level="write"),
    Endpoint(f"GET {_GIT}/commits/{{commit_sha}}", get_commit, permissions=_NEEDS),
)
