"""What the API tells us, reduced to the fields that are used; read from plain JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

Purpose = Literal["read", "talk", "publish"]

PERMISSIONS: dict[Purpose, Any] = {
    "read": {"metadata": "read", "contents": "read"},
    "talk": {
        "metadata": "read",
        "contents": "read",
        "issues": "write",
        "pull_requests": "write",
    },
    "publish": {
        "metadata": "read",
        "contents": "write",
        "issues": "write",
        "pull_requests": "write",
    },
}
"""What a token of each purpose may do; always for one repository. app.yml covers all of it."""

WRITER_ROLES = frozenset({"write", "maintain", "admin"})
READER_ROLES = frozenset({"none", "read", "triage"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are: the App's id, its slug, and the login its comments appear under."""

    app_id: int
    slug: str

    @property
    def login(self) -> str:
        """The bot user's login."""
        return f"{self.slug}[bot]"


@dataclass(frozen=True, slots=True)
class RepositoryInfo:
    """A repository now; `full_name` follows renames."""

    id: int
    full_name: str
    default_branch: str
    archived: bool


@dataclass(frozen=True, slots=True)
class Permission:
    """A person's access. `user_id` is compared with the sender's: logins can change hands."""

    user_id: int
    role: str
    base: str

    @property
    def can_write(self) -> bool:
        """Write or more. A custom role counts by the base permission it extends."""
        if self.role in READER_ROLES:
            return False
        return self.role in WRITER_ROLES or self.base in {"write", "admin"}

    def lets_write(self, user_id: int) -> bool:
        """Whether this is the access of that very person and allows writing."""
        return self.can_write and self.user_id == user_id


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; `ours` tells whether this App wrote it (a marker alone can be forged)."""

    id: int
    body: str
    author: str
    ours: bool
    url: str


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `state` is open or closed, `updated_at` seconds since the epoch."""

    number: int
    url: str
    state: str
    draft: bool
    head_ref: str
    head_sha: str
    title: str
    body: str
    is_merged: bool
    updated_at: float


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit object as the git data API shows it."""

    sha: str
    tree: str
    message: str
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One change of a tree; `sha` None deletes the path."""

    path: str
    mode: str
    sha: str | None


def comment_from(data: Any, identity: Identity) -> Comment:
    """A comment from the API's JSON. The author is None for deleted accounts."""
    user = data.get("user") or {}
    via = data.get("performed_via_github_app") or {}
    by_bot_user = user.get("type") == "Bot" and user.get("login") == identity.login
    return Comment(
        id=data["id"],
        body=data.get("body") or "",
        author=user.get("login", "ghost"),
        ours=via.get("id") == identity.app_id or by_bot_user,
        url=data.get("html_url", ""),
    )


def pull_from(data: Any) -> Pull:
    """A pull request from the API's JSON."""
    return Pull(
        number=data["number"],
        url=data.get("html_url", ""),
        state=data["state"],
        draft=bool(data.get("draft")),
        head_ref=data["head"]["ref"],
        head_sha=data["head"]["sha"],
        title=data.get("title") or "",
        body=data.get("body") or "",
        is_merged=data.get("merged_at") is not None,
        updated_at=datetime.fromisoformat(data["updated_at"]).timestamp(),
    )


def commit_from(data: Any) -> Commit:
    """A commit from the git data API's JSON."""
    return Commit(
        sha=data["sha"],
        tree=data["tree"]["sha"],
        message=data["message"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
    )
