"""What a REST endpoint is: an operation of GitHub's description, who may call it, a function.

Functions are synchronous and run under the state's lock: they take a `Call`, change the state
and return an `Answer`, or raise `Refused`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from emulator.github.errors import not_accessible
from emulator.github.records import LEVELS, Repository, Role, Token, User
from emulator.github.state import State

Kind = Literal["anonymous", "app", "installation", "user"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: nobody, the App (by JWT), one installation of it, or a person."""

    kind: Kind
    token: Token | None = None

    @property
    def label(self) -> str:
        """For the request log: the kind and whom the token belongs to, never the token."""
        if self.token is None:
            return self.kind
        if self.token.user is not None:
            return f"user:{self.token.user.login}"
        assert self.token.installation is not None
        return f"installation:{self.token.installation.id}"

    def holds(self, permission: str, level: str) -> bool:
        """Whether an installation token has the permission at that level or above."""
        assert self.token is not None
        held = self.token.permissions.get(permission, "none")
        return LEVELS.index(held) >= LEVELS.index(level)


@dataclass(frozen=True, slots=True)
class Call:
    """One request, checked: path and query with their types, the body as sent."""

    state: State
    caller: Caller
    path: Mapping[str, Any]
    query: Mapping[str, Any]
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    found: Repository | None = None

    @property
    def repo(self) -> Repository:
        """The repository in the path, which the caller may see."""
        assert self.found is not None
        return self.found

    @property
    def actor(self) -> User:
        """The account the action is shown under: the person, or the App's bot."""
        token = self.caller.token
        return token.user if token is not None and token.user is not None else self.state.bot

    @property
    def via_app(self) -> bool:
        """Whether the App acts itself."""
        return self.caller.kind == "installation"

    def require(self, permission: str, level: str = "write") -> None:
        """Refused 403 unless an installation token has the permission; persons pass."""
        if self.caller.kind == "installation" and not self.caller.holds(permission, level):
            raise not_accessible()


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and JSON body. With `page_of` the body is a page of that list: `wrap` builds the
    body from the page and the total (GitHub counts some lists), None sends the page as it is."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    page_of: Sequence[Any] | None = None
    show: Callable[[Any], Any] = lambda each: each
    wrap: Callable[[list[Any], int], Any] | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An operation ("GET /app"), its function and who may call it.

    `who` "app" wants the JWT, "installation" an installation token, "repository" a token that
    sees the repository in the path: an installation with any of `permissions` at `level`, or a
    person with `role` (by default what `level` says). "any" wants a token, "anyone" nothing.
    """

    operation: str
    run: Callable[[Call], Answer]
    who: Literal["app", "installation", "repository", "any", "anyone"] = "repository"
    permissions: tuple[str, ...] = ("metadata",)
    level: Literal["read", "write"] = "read"
    role: Role | None = None
    app_only: bool = False

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.operation.split(" ")[0]

    @property
    def path(self) -> str:
        """The path as the description writes it."""
        return self.operation.split(" ")[1]
