"""git objects and references as JSON."""

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from emulator.github import git_store
from emulator.github.git_store import Commit, Signature
from emulator.github.records import Repository, User
from emulator.github.shapes.accounts import moment, user
from emulator.github.shapes.repositories import api_url, page_url
from emulator.github.state import State, node_id


def signature(what: Signature) -> dict[str, str]:
    """Author or committer, with the time in UTC."""
    seconds, zone = what.date.split()
    offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
    when = datetime.fromtimestamp(int(seconds), timezone(offset)).astimezone(UTC)
    return {"name": what.name, "email": what.email, "date": moment(when)}


def verification(repo: Repository, commit: Commit) -> dict[str, Any]:
    """Whether GitHub signed the commit: only those it made itself, without an author given."""
    when = repo.signed.get(commit.sha)
    if when is None:
        unsigned = {"signature": None, "payload": None, "verified_at": None}
        return {"verified": False, "reason": "unsigned", **unsigned}
    payload = git_store.read(repo.path, "commit", commit.sha).decode(errors="replace")
    return {
        "verified": True,
        "reason": "valid",
        "signature": "-----BEGIN PGP SIGNATURE-----\n(emulated)\n-----END PGP SIGNATURE-----",
        "payload": payload,
        "verified_at": moment(when),
    }


def git_commit(state: State, repo: Repository, commit: Commit) -> dict[str, Any]:
    """A commit of the git data API."""
    url, page = f"{api_url(state, repo)}/git", page_url(state, repo)
    return {
        "sha": commit.sha,
        "node_id": node_id("Commit", commit.sha),
        "url": f"{url}/commits/{commit.sha}",
        "html_url": f"{page}/commit/{commit.sha}",
        "author": signature(commit.author),
        "committer": signature(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{url}/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": each, "url": f"{url}/commits/{each}", "html_url": f"{page}/commit/{each}"}
            for each in commit.parents
        ],
        "verification": verification(repo, commit),
    }


def commit_item(state: State, repo: Repository, sha: str) -> dict[str, Any]:
    """A commit as the commits API shows it, without its files."""
    commit = git_store.read_commit(repo.path, sha)
    inner = git_commit(state, repo, commit)
    url = f"{api_url(state, repo)}/commits/{sha}"
    return {
        "sha": sha,
        "node_id": inner["node_id"],
        "url": url,
        "html_url": inner["html_url"],
        "comments_url": f"{url}/comments",
        "author": _account(state, commit.author),
        "committer": _account(state, commit.committer),
        "parents": inner["parents"],
        "commit": {
            **{name: inner[name] for name in ("author", "committer", "message", "tree")},
            "url": inner["url"],
            "comment_count": 0,
            "verification": inner["verification"],
        },
    }


def _account(state: State, who: Signature) -> dict[str, Any] | None:
    for each in state.users.values():
        if who.email in (each.email, email_of(state, each)):
            return user(state, each)
    return None


def email_of(state: State, who: User) -> str:
    """The address GitHub writes into commits for an account that hides its own."""
    host = state.url.partition("://")[2].partition(":")[0]
    return who.email or f"{who.id}+{who.login}@users.noreply.{host}"


def reference(state: State, repo: Repository, name: str, sha: str, kind: str) -> dict[str, Any]:
    """A branch or tag."""
    url = f"{api_url(state, repo)}/git"
    return {
        "ref": name,
        "node_id": node_id("Ref", f"{repo.id}:{name}"),
        "url": f"{url}/{name}",
        "object": {"sha": sha, "type": kind, "url": f"{url}/{kind}s/{sha}"},
    }


def tree(state: State, repo: Repository, sha: str, *, recursive: bool = False) -> dict[str, Any]:
    """A tree and its entries."""
    url = f"{api_url(state, repo)}/git"
    entries = []
    for each in git_store.list_tree(repo.path, sha, recursive=recursive):
        entry: dict[str, Any] = {
            "path": each.path.encode(errors="surrogateescape").decode(errors="replace"),
            "mode": each.mode,
            "type": each.kind,
            "sha": each.sha,
        }
        if each.size is not None:
            entry["size"] = each.size
        if each.kind != "commit":
            entry["url"] = f"{url}/{each.kind}s/{each.sha}"
        entries.append(entry)
    return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": entries, "truncated": False}


def blob(state: State, repo: Repository, sha: str) -> dict[str, Any]:
    """A blob, base64 in lines of 60 characters as GitHub wraps it."""
    content = git_store.read(repo.path, "blob", sha)
    text = base64.b64encode(content).decode()
    lines = [text[start : start + 60] for start in range(0, len(text), 60)]
    return {
        "sha": sha,
        "node_id": node_id("Blob", sha),
        "size": len(content),
        "url": f"{api_url(state, repo)}/git/blobs/{sha}",
        "content": "".join(f"{line}\n" for line in lines),
        "encoding": "base64",
    }
