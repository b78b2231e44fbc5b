"""What admission reads of a stored, signed payload; wrong shapes raise MalformedPayload."""

import json
from dataclasses import dataclass
from typing import Any


class MalformedPayload(ValueError):
    """The signed body does not have the shape its event promises."""


@dataclass(frozen=True, slots=True)
class Sender:
    """Who did it. `type` is User, Bot, Organization or Mannequin."""

    id: int
    login: str
    type: str


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue or pull request as it was at that moment; null texts are None."""

    number: int
    title: str | None
    body: str | None
    author: str
    author_id: int
    is_pull_request: bool


@dataclass(frozen=True, slots=True)
class Event:
    """An event about a repository. `label` and the comment's fields are empty where none is."""

    name: str
    action: str
    installation_id: int
    repository_id: int
    full_name: str
    owner: str
    sender: Sender
    issue: Issue
    label: str = ""
    comment_id: int = 0
    comment_body: str = ""


@dataclass(frozen=True, slots=True)
class InstallationChange:
    """An installation as it is now, with repositories (id → full name) added and removed."""

    action: str
    installation_id: int
    account: str
    selection: str
    suspended: bool
    added: dict[int, str]
    removed: tuple[int, ...]


def read_event(name: str, body: bytes) -> Event:
    """A labelled issue or pull request, or a comment."""
    try:
        data = json.loads(body)
        subject = data["pull_request"] if name == "pull_request" else data["issue"]
        comment = data.get("comment") or {}
        return Event(
            name=name,
            action=data["action"],
            installation_id=int(data["installation"]["id"]),
            repository_id=int(data["repository"]["id"]),
            full_name=str(data["repository"]["full_name"]),
            owner=str(data["repository"]["owner"]["login"]),
            sender=_sender(data["sender"]),
            issue=_issue(subject, name == "pull_request"),
            label=str((data.get("label") or {}).get("name") or ""),
            comment_id=int(comment.get("id", 0)),
            comment_body=comment.get("body") or "",
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedPayload(f"The {name} payload cannot be read: {error!r}") from error


def read_installation(body: bytes) -> InstallationChange:
    """An `installation` or `installation_repositories` event."""
    try:
        data = json.loads(body)
        installation = data["installation"]
        account = installation.get("account") or {}
        added = data.get("repositories_added") or data.get("repositories") or []
        return InstallationChange(
            action=data["action"],
            installation_id=int(installation["id"]),
            account=str(account.get("login") or account.get("slug") or ""),
            selection=str(installation.get("repository_selection") or "selected"),
            suspended=installation.get("suspended_at") is not None,
            added={int(repo["id"]): str(repo["full_name"]) for repo in added},
            removed=tuple(int(repo["id"]) for repo in data.get("repositories_removed") or []),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedPayload(f"The installation payload cannot be read: {error!r}") from error


def _sender(data: dict[str, Any]) -> Sender:
    return Sender(int(data["id"]), str(data["login"]), str(data["type"]))


def _issue(data: dict[str, Any], is_pull_request: bool) -> Issue:
    author = data.get("user") or {"login": "ghost", "id": 0}  # a deleted account
    return Issue(
        number=int(data["number"]),
        title=data.get("title"),
        body=data.get("body"),
        author=str(author["login"]),
        author_id=int(author["id"]),
        is_pull_request=is_pull_request or bool(data.get("pull_request")),
    )
