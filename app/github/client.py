"""What Prism asks of GitHub: the App, and one repository at a time with a token of its own.

Importing it imports githubkit (250 ms), so import it late.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal
from urllib.parse import quote

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from app.github.errors import Conflict, NotFound
from app.github.kit import Kit, answer, app_kit, rest_of, token_kit
from app.github.tokens import Token, TokenKey, TokenProvider, token_from
from app.github.values import (
    PERMISSIONS,
    Comment,
    Commit,
    Identity,
    Permission,
    Pull,
    Purpose,
    RepositoryInfo,
    TreeEntry,
    comment_from,
    commit_from,
    pull_from,
)
from app.messages.outgoing import check_secrets
from app.settings import Settings, SettingsError

PAGE = 100

Reaction = Literal["eyes", "rocket", "confused"]


class GitHubApp:
    """The App itself: knows its identity and opens repositories with tokens of their own.

    Raises SettingsError for a private key that cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        _require_key(settings.private_key)
        self._base_url = settings.api_url
        self._app = app_kit(self._base_url, settings.app_id, settings.private_key)
        self._tokens = TokenProvider(self._mint)
        self._secrets = secrets_of(settings)
        self._identity: Identity | None = None

    async def identity(self) -> Identity:
        """Id and slug of the App; asked once per process. Raises Unauthorized on a bad key."""
        if self._identity is None:
            data = await answer(rest_of(self._app).apps.async_get_authenticated())
            self._identity = Identity(app_id=data["id"], slug=data["slug"])
        return self._identity

    async def permissions(self) -> dict[str, str]:
        """What the App is granted by its settings, e.g. {"contents": "write"}."""
        data = await answer(rest_of(self._app).apps.async_get_authenticated())
        return {str(name): str(level) for name, level in data.get("permissions", {}).items()}

    async def token(self, installation_id: int, repository_id: int, purpose: Purpose) -> str:
        """A token for one repository with the permissions of `purpose`."""
        return await self._tokens.get(
            TokenKey(self._base_url, installation_id, repository_id, purpose)
        )

    @asynccontextmanager
    async def repository(
        self, installation_id: int, repository_id: int, full_name: str, purpose: Purpose
    ) -> AsyncGenerator["GitHubRepo"]:
        """Open one repository; use it in the task that entered it or in tasks started there."""
        identity = await self.identity()
        key = TokenKey(self._base_url, installation_id, repository_id, purpose)
        async with token_kit(self._base_url, self._tokens, key) as github:
            yield GitHubRepo(github, identity, full_name, self._secrets)

    async def _mint(self, key: TokenKey) -> Token:
        data = await answer(
            rest_of(self._app).apps.async_create_installation_access_token(
                key.installation_id,
                repository_ids=[key.repository_id],
                permissions=PERMISSIONS[key.purpose],
            )
        )
        return token_from(data)


def _require_key(pem: str) -> None:
    try:
        load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise SettingsError(
            "PRIVATE_KEY is not a private key that can be read. Make a new one in the App's "
            "settings and use the whole file."
        ) from error


class GitHubRepo:
    """One repository with one token. Every method raises the errors of `app.github.errors`.

    Texts are checked for secrets here, at the one place where they leave; a hit is SecretInText.
    """

    def __init__(
        self,
        github: Kit,
        identity: Identity,
        full_name: str,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self._github = github  # the namespace below holds it weakly
        self._rest = rest_of(github)
        self.identity = identity
        self.full_name = full_name
        owner, _, name = full_name.partition("/")
        self.owner = owner
        self._at = (owner, name)
        self._secrets = secrets

    def check(self, *texts: str) -> None:
        """Raise SecretInText when a text may not leave."""
        check_secrets("\n".join(texts), self._secrets)

    async def info(self) -> RepositoryInfo:
        """The repository as it is now: name after renames, default branch."""
        data = await answer(self._rest.repos.async_get(*self._at))
        return RepositoryInfo(
            id=data["id"],
            full_name=data["full_name"],
            default_branch=data["default_branch"],
            archived=bool(data.get("archived")),
        )

    async def permission(self, login: str) -> Permission | None:
        """A person's access; None when GitHub knows of none (404)."""
        call = self._rest.repos.async_get_collaborator_permission_level(*self._at, login)
        try:
            data = await answer(call)
        except NotFound:
            return None
        user = data.get("user") or {}
        return Permission(
            user_id=user.get("id", 0),
            role=data.get("role_name") or data.get("permission") or "none",
            base=data.get("permission") or "none",
        )

    async def comments(self, number: int) -> tuple[Comment, ...]:
        """All comments of an issue or pull request, oldest first."""
        found: list[Comment] = []
        page = 1
        while True:
            data = await answer(
                self._rest.issues.async_list_comments(*self._at, number, per_page=PAGE, page=page)
            )
            found += [comment_from(entry, self.identity) for entry in data]
            if len(data) < PAGE:
                return tuple(found)
            page += 1

    async def create_comment(self, number: int, body: str) -> Comment:
        """Write a comment; not retried, so look it up after GitHubUnavailable."""
        self.check(body)
        call = self._rest.issues.async_create_comment(*self._at, number, body=body)
        return comment_from(await answer(call), self.identity)

    async def update_comment(self, comment_id: int, body: str) -> Comment:
        """Replace a comment's text."""
        self.check(body)
        call = self._rest.issues.async_update_comment(*self._at, comment_id, body=body)
        return comment_from(await answer(call), self.identity)

    async def react_to_issue(self, number: int, content: Reaction) -> None:
        """Leave a reaction (GitHub keeps one per kind and user)."""
        await answer(
            self._rest.reactions.async_create_for_issue(
                *self._at,
                number,
                content=content,
            )
        )

    async def react_to_comment(self, comment_id: int, content: Reaction) -> None:
        """Leave a reaction on a comment."""
        await answer(
            self._rest.reactions.async_create_for_issue_comment(
                *self._at,
                comment_id,
                content=content,
            )
        )

    async def find_pull(self, branch: str) -> Pull | None:
        """The newest pull request from a branch of this repository, in any state."""
        head = f"{self.owner}:{branch}"
        data = await answer(self._rest.pulls.async_list(*self._at, head=head, state="all"))
        # A server that does not know `head` ignores it and lists everything.
        return next((pull_from(d) for d in data if d["head"]["ref"] == branch), None)

    async def get_pull(self, number: int) -> Pull:
        """One pull request."""
        return pull_from(await answer(self._rest.pulls.async_get(*self._at, number)))

    async def create_pull(
        self, *, title: str, head: str, base: str, body: str, draft: bool = True
    ) -> Pull:
        """Open a pull request; not retried, so look it up after GitHubUnavailable."""
        self.check(title, body)
        call = self._rest.pulls.async_create(
            *self._at, title=title, head=head, base=base, body=body, draft=draft
        )
        return pull_from(await answer(call))

    async def get_ref(self, ref: str) -> str | None:
        """The object a ref (`heads/main`) points at, None when there is no such ref."""
        try:
            data = await answer(self._rest.git.async_get_ref(*self._at, quote(ref)))
        except (NotFound, Conflict):
            return None
        return str(data["object"]["sha"])

    async def create_ref(self, ref: str, sha: str) -> None:
        """Create a ref (`refs/heads/…`); Unprocessable when it exists."""
        await answer(self._rest.git.async_create_ref(*self._at, ref=ref, sha=sha))

    async def get_commit(self, sha: str) -> Commit:
        """A commit object."""
        return commit_from(await answer(self._rest.git.async_get_commit(*self._at, sha)))

    async def create_blob(self, content_base64: str) -> str:
        """Store a blob; returns its object name."""
        call = self._rest.git.async_create_blob(
            *self._at, content=content_base64, encoding="base64"
        )
        return str((await answer(call))["sha"])

    async def create_tree(self, base_tree: str, entries: tuple[TreeEntry, ...]) -> str:
        """Store a tree that is `base_tree` with `entries` changed; returns its object name."""
        tree: list[Any] = [
            {"path": e.path, "mode": e.mode, "type": "blob", "sha": e.sha} for e in entries
        ]
        call = self._rest.git.async_create_tree(*self._at, tree=tree, base_tree=base_tree)
        return str((await answer(call))["sha"])

    async def create_commit(self, message: str, tree: str, parent: str) -> Commit:
        """Store a commit without naming an author, so that GitHub signs it as the App's."""
        self.check(message)
        call = self._rest.git.async_create_commit(
            *self._at, message=message, tree=tree, parents=[parent]
        )
        return commit_from(await answer(call))


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """What must never appear in a text: the server's own secrets, a key's lines one by one."""
    lines = [line for line in settings.private_key.split() if len(line) >= 40]
    clouds = (settings.bedrock_token, settings.aws_secret_key, settings.aws_session_token)
    return (settings.webhook_secret, settings.anthropic_api_key, *filter(None, clouds), *lines)
