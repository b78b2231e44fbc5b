"""What the emulated GitHub remembers: plain mutable records, one per kind of thing.

Times are aware, UTC and whole seconds, as GitHub writes them. Ids are unique over the whole
installation of the emulator; numbers of issues and pull requests are one series per repository.
"""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

AccountType = Literal["User", "Organization", "Bot"]
Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
LEVELS = ("none", "read", "write", "admin")


@dataclass(slots=True)
class User:
    """A person, an organisation or the App's own account (`type` "Bot", login `slug[bot]`)."""

    id: int
    login: str
    type: AccountType
    name: str | None = None
    email: str | None = None


@dataclass(slots=True)
class Label:
    """A label of one repository; matched without regard to case."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True)
class Reaction:
    """One person's reaction to an issue or a comment."""

    id: int
    content: str
    user: User
    created_at: datetime


@dataclass(slots=True)
class Comment:
    """A comment below an issue or pull request; `via_app` when the App's token wrote it."""

    id: int
    body: str
    user: User
    created_at: datetime
    updated_at: datetime
    via_app: bool = False
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merge:
    """The commit that a merge left on the base branch."""

    sha: str
    at: datetime
    by: User


@dataclass(slots=True)
class Pull:
    """What a pull request has beside being an issue.

    `head_sha` and `base_sha` are the last ones seen: the branches may be gone. `merged` is None
    until it is.
    """

    id: int
    head_ref: str
    base_ref: str
    head_sha: str
    base_sha: str
    draft: bool = False
    maintainer_can_modify: bool = True
    merged: Merge | None = None


@dataclass(slots=True)
class Issue:
    """An issue, or a pull request when `pull` is set."""

    id: int
    number: int
    title: str
    body: str | None
    user: User
    created_at: datetime
    updated_at: datetime
    via_app: bool = False
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    locked: bool = False
    lock_reason: str | None = None
    labels: list[Label] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    pull: Pull | None = None


@dataclass(slots=True)
class CheckRun:
    """A check run of the App on one commit; `output` is as sent."""

    id: int
    suite_id: int
    name: str
    head_sha: str
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Repository:
    """A repository: its records and the bare git repository at `path`."""

    id: int
    owner: User
    name: str
    path: Path
    created_at: datetime
    default_branch: str = "main"
    private: bool = False
    archived: bool = False
    description: str | None = None
    former_names: list[str] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    signed: dict[str, datetime] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """`owner/name` as it is written now."""
        return f"{self.owner.login}/{self.name}"


@dataclass(slots=True)
class Installation:
    """The App on one account: on all of its repositories, or on those in `repository_ids`."""

    id: int
    account: User
    selection: Literal["all", "selected"]
    repository_ids: set[int]
    permissions: dict[str, str]
    created_at: datetime
    suspended_at: datetime | None = None
    suspended_by: User | None = None


@dataclass(slots=True)
class Token:
    """A token of an installation or of a person.

    `repository_ids` is None for all repositories of the installation; `expires_at` None never.
    """

    value: str
    expires_at: datetime | None = None
    installation: Installation | None = None
    user: User | None = None
    permissions: dict[str, str] = field(default_factory=dict)
    repository_ids: frozenset[int] | None = None


@dataclass(slots=True)
class Delivery:
    """One attempt to deliver a webhook; a redelivery is a new attempt with the same `guid`."""

    id: int
    guid: str
    event: str
    action: str | None
    payload: dict[str, Any]
    delivered_at: datetime
    installation_id: int | None
    repository_id: int | None
    redelivery: bool = False
    request_headers: dict[str, str] = field(default_factory=dict)
    duration_s: float = 0.0
    status: str = "pending"
    status_code: int = 0
    response_headers: dict[str, str] = field(default_factory=dict)
    response_body: str = ""
