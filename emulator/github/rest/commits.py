"""Commits and file contents."""

import base64
from typing import Any
from urllib.parse import quote

from emulator.github import git_store
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_found
from emulator.github.records import Repository
from emulator.github.shapes.git import commit_item
from emulator.github.shapes.repositories import api_url, page_url
from emulator.github.state import State

_STATUS = {"A": "added", "D": "removed", "M": "modified", "T": "changed"}


def not_empty(call: Call) -> None:
    """Refused 409 when the repository has no commit yet."""
    if git_store.is_empty(call.repo.path):
        raise Refused(409, "Git Repository is empty.")


def list_commits(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/commits"""
    not_empty(call)
    start = str(call.query.get("sha", call.repo.default_branch))
    sha = git_store.resolve(call.repo.path, f"{start}^{{commit}}")
    if sha is None:
        raise not_found()
    return Answer(
        page_of=git_store.history(call.repo.path, sha),
        show=lambda each: commit_item(call.state, call.repo, each),
    )


def get_commit(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/commits/{ref}"""
    not_empty(call)
    sha = commit_of(call.repo, str(call.path["ref"]))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.path['ref']}")
    return Answer(body=with_files(call, commit_item(call.state, call.repo, sha)))


def commit_of(repo: Repository, ref: str) -> str | None:
    """The commit a branch, tag or id names, or None."""
    for name in (f"refs/heads/{ref}", f"refs/tags/{ref}", ref):
        found = git_store.resolve(repo.path, f"{name}^{{commit}}")
        if found is not None:
            return found
    return None


def with_files(call: Call, item: dict[str, Any]) -> dict[str, Any]:
    """The commit with its files and sizes against its first parent."""
    parents = item["parents"]
    before = parents[0]["sha"] if parents else git_store.EMPTY_TREE
    files = diff_entries(call.state, call.repo, before, item["sha"])
    added = sum(each["additions"] for each in files)
    deleted = sum(each["deletions"] for each in files)
    stats = {"additions": added, "deletions": deleted, "total": added + deleted}
    return item | {"files": files, "stats": stats}


def diff_entries(state: State, repo: Repository, before: str, after: str) -> list[dict[str, Any]]:
    """The changed files between two trees, each with its patch (none for a binary file)."""
    raw = git_store.git(repo.path, "diff-tree", "-r", "-z", "--no-renames", before, after)
    fields = raw.decode(errors="replace").split("\0")[:-1]
    entries = []
    for head, name in zip(fields[::2], fields[1::2], strict=True):
        _, _, _, blob, letter = head.split(" ")
        patch = git_store.git(
            repo.path, "diff-tree", "-p", "--no-renames", before, after, "--", name
        )
        entries.append(_entry(state, repo, after, name, (blob, letter), patch))
    return entries


def _entry(
    state: State, repo: Repository, after: str, name: str, what: tuple[str, str], patch: bytes
) -> dict[str, Any]:
    blob, letter = what
    text = patch.decode(errors="replace")
    start = text.find("\n@@")
    hunks = "" if start < 0 else text[start + 1 :].rstrip("\n")
    lines = hunks.splitlines()
    added = sum(line.startswith("+") for line in lines)
    deleted = sum(line.startswith("-") for line in lines)
    page = page_url(state, repo)
    entry = {
        "sha": None if letter == "D" else blob,
        "filename": name,
        "status": _STATUS.get(letter, "changed"),
        "additions": added,
        "deletions": deleted,
        "changes": added + deleted,
        "blob_url": _address(f"{page}/blob/{after}/{name}"),
        "raw_url": _address(f"{page}/raw/{after}/{name}"),
        "contents_url": _address(f"{api_url(state, repo)}/contents/{name}") + f"?ref={after}",
    }
    return entry | ({"patch": hunks} if hunks else {})


def _address(text: str) -> str:
    return quote(text, safe="/:._-~?=")


def get_contents(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/contents/{path}: a file (base64) or the list of a folder."""
    path = str(call.path["path"]).strip("/")
    ref = str(call.query.get("ref", call.repo.default_branch))
    commit = commit_of(call.repo, ref)
    if commit is None:
        raise Refused(404, f"No commit found for the ref {ref}")
    if path:
        found = git_store.git(call.repo.path, "ls-tree", "-z", "-l", commit, "--", path)
        if not found:
            raise not_found()
        kind = found.split(b"\t")[0].split()[1]
        if kind == b"blob":
            return Answer(body=_file(call, commit, path))
    tree = git_store.list_tree(call.repo.path, f"{commit}:{path}")
    prefix = f"{path}/" if path else ""
    return Answer(
        body=[
            _content(call, prefix + each.path, each.sha, each.size or 0)
            | {"type": {"tree": "dir", "commit": "submodule"}.get(each.kind, "file")}
            for each in tree
        ]
    )


def _file(call: Call, commit: str, path: str) -> dict[str, Any]:
    sha = git_store.resolve(call.repo.path, f"{commit}:{path}")
    assert sha is not None
    content = git_store.read(call.repo.path, "blob", sha)
    encoded = base64.encodebytes(content).decode()
    return _content(call, path, sha, len(content)) | {
        "type": "file",
        "encoding": "base64",
        "content": encoded,
    }


def _content(call: Call, path: str, sha: str, size: int) -> dict[str, Any]:
    url = _address(f"{api_url(call.state, call.repo)}/contents/{path}")
    blob = f"{api_url(call.state, call.repo)}/git/blobs/{sha}"
    page = _address(f"{page_url(call.state, call.repo)}/blob/{path}")
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": size,
        "url": url,
        "html_url": page,
        "git_url": blob,
        "download_url": None,
        "_links": {"self": url, "git": blob, "html": page},
    }


_REPO = "/repos/{owner}/{repo}"
ENDPOINTS = (
    Endpoint(f"GET {_REPO}/commits", list_commits, permissions=("contents",)),
    Endpoint(f"GET {_REPO}/commits/{{ref}}", get_commit, permissions=("contents",)),
    Endpoint(f"GET {_REPO}/contents/{{path}}", get_contents, permissions=("contents",)),
)
