"""The whole memory of the emulated GitHub, with lookups; nothing here sends or serves.

Every reader and writer holds `lock`: requests, the pages and the setup calls of a test run in
different threads.
"""

import base64
import itertools
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import RLock
from typing import Any

from emulator.github.errors import not_found
from emulator.github.faults import Faults
from emulator.github.keys import AppKey
from emulator.github.records import (
    Installation,
    Issue,
    Repository,
    Role,
    Token,
    User,
)
from emulator.github.webhooks import Webhooks

DEFAULT_PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
DEFAULT_EVENTS = ("issues", "issue_comment", "pull_request")


class State:
    """Accounts, repositories, installations, tokens and what happened to them.

    `data` holds the bare repositories and the App's private key. `url` is the address the
    server is reached at (without a slash at the end); it is set when the server starts.
    """

    def __init__(self, data: Path, app_slug: str = "prism", org: str = "acme") -> None:
        self.data = data
        self.lock = RLock()
        self.url = "http://127.0.0.1"
        self.long_tokens = True
        self.rate_limit = 5000
        self.clock_skew = timedelta()
        self._ids = itertools.count(1001)
        self.key = AppKey.create(data / "private-key.pem")
        self.app_id = next(self._ids)
        self.app_slug = app_slug
        self.permissions = dict(DEFAULT_PERMISSIONS)
        self.events: tuple[str, ...] = DEFAULT_EVENTS
        self.started_at = self.now()
        self.users: dict[str, User] = {}
        self.org = self.register(User(next(self._ids), org, "Organization"))
        self.bot = self.register(User(next(self._ids), f"{app_slug}[bot]", "Bot"))
        self.web_flow = self.register(
            User(next(self._ids), "web-flow", "User", "GitHub", "noreply@github.com")
        )
        self.repositories: dict[int, Repository] = {}
        self.installations: dict[int, Installation] = {}
        self.tokens: dict[str, Token] = {}
        self.spent: dict[str, int] = {}
        self.default_roles: dict[str, Role] = {}
        self.webhooks = Webhooks(self.app_id, self.now)
        self.faults = Faults()
        self.violations: list[str] = []
        self.requests: list[dict[str, Any]] = []

    def now(self) -> datetime:
        """The emulator's time: whole seconds, moved by `clock_skew` (tests let tokens expire)."""
        return (datetime.now(UTC) + self.clock_skew).replace(microsecond=0)

    def new_id(self) -> int:
        """The next id; ids only grow."""
        return next(self._ids)

    @property
    def client_id(self) -> str:
        """The App's client id, which GitHub also accepts as the issuer of a JWT."""
        return f"Iv23li{self.app_id:014d}"

    def register(self, user: User) -> User:
        """Keep an account; logins are unique without regard to case."""
        return self.users.setdefault(user.login.lower(), user)

    def user(self, login: str) -> User:
        """The account with that login; Refused 404 when there is none."""
        found = self.users.get(login.lower())
        if found is None:
            raise not_found()
        return found

    def repository(self, owner: str, name: str) -> Repository:
        """The repository by its present or a former name; Refused 404 when there is none."""
        wanted = name.lower()
        theirs = [
            each for each in self.repositories.values() if each.owner.login.lower() == owner.lower()
        ]
        for each in theirs:
            if each.name.lower() == wanted:
                return each
        for each in theirs:
            if wanted in map(str.lower, each.former_names):
                return each
        raise not_found()

    def role(self, user: User, repo: Repository) -> Role:
        """What a person may do there; everybody may read a public repository."""
        role = repo.roles.get(user.login.lower(), "none")
        return "read" if role == "none" and not repo.private else role

    def installed_on(self, installation: Installation) -> list[Repository]:
        """The repositories an installation covers, in order of creation."""
        return [
            each
            for each in self.repositories.values()
            if each.owner is installation.account
            and (installation.selection == "all" or each.id in installation.repository_ids)
        ]

    def installation_of(self, repo: Repository) -> Installation | None:
        """The App's installation that covers the repository, or None."""
        covering = (each for each in self.installations.values() if repo in self.installed_on(each))
        return next(covering, None)

    def pulls(self, repo: Repository) -> Iterator[Issue]:
        """The repository's pull requests, oldest first."""
        return (each for each in repo.issues.values() if each.pull is not None)


def next_number(repo: Repository) -> int:
    """The number the repository's next issue or pull request gets."""
    return max(repo.issues, default=0) + 1


def node_id(kind: str, number: int | str) -> str:
    """An opaque global id as GitHub's GraphQL uses them."""
    return base64.b64encode(f"0:{kind}{number}".encode()).decode()


def names(repositories: Iterable[Repository]) -> list[str]:
    """The full names, in order."""
    return [each.full_name for each in repositories]
