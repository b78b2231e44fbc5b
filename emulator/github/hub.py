"""The emulated GitHub as tests and the demo set it up: one organisation, one App."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from emulator.github import events, git_store
from emulator.github.acts import installations, issues, merging, pulls
from emulator.github.git_store import NO_SHA, Signature
from emulator.github.git_tree import commit_files
from emulator.github.records import (
    Comment,
    Installation,
    Issue,
    Label,
    Repository,
    Role,
    Token,
    User,
)
from emulator.github.rest.apps import new_token
from emulator.github.state import State


class GitHub(State):
    """A whole GitHub in memory, with bare repositories below `data`.

    Every method may be called from any thread, before the server starts or while it runs;
    what a person does is announced by webhook exactly as if it came through the REST API.
    """

    def __init__(self, data: Path, app_slug: str = "prism", org: str = "acme") -> None:
        super().__init__(data, app_slug, org)
        self.maintainer = self.add_user("maintainer", "admin")

    def add_user(
        self,
        login: str,
        role: Role = "none",
        repositories: Iterable[Repository] | None = None,
        *,
        name: str | None = None,
        email: str | None = None,
    ) -> User:
        """A person with `role` on `repositories`, or on all there are and will be."""
        with self.lock:
            who = self.register(User(self.new_id(), login, "User", name, email))
            if repositories is None:
                self.default_roles[login.lower()] = role
                repositories = self.repositories.values()
            for repo in repositories:
                repo.roles[login.lower()] = role
            return who

    def token_for(self, user: User) -> str:
        """A personal access token of a person, which never expires."""
        with self.lock:
            number = len(self.tokens) + 1
            value = f"ghp_{user.login.replace('-', '')}{number:030d}"
            self.tokens[value] = Token(value, user=user)
            return value

    def installation_token(
        self, installation: Installation, permissions: Mapping[str, str] | None = None
    ) -> str:
        """A token of an installation without the detour over the App's JWT."""
        with self.lock:
            value = new_token(self, installation.id)
            granted = dict(installation.permissions if permissions is None else permissions)
            self.tokens[value] = Token(value, None, installation, None, granted)
            return value

    def add_repository(
        self, name: str, default_branch: str = "main", *, private: bool = False
    ) -> Repository:
        """An empty repository of the organisation, announced to an installation on "all"."""
        with self.lock:
            path = self.data / "repositories" / self.org.login / f"{name}.git"
            git_store.create(path, default_branch)
            repo = Repository(
                self.new_id(), self.org, name, path, self.now(), default_branch, private
            )
            repo.roles.update(self.default_roles)
            self.repositories[repo.id] = repo
            installations.announce_new_repository(self, repo, self.maintainer)
            return repo

    def rename(self, repo: Repository, name: str) -> None:
        """Give a repository another name; the former one redirects."""
        with self.lock:
            repo.former_names.append(repo.name)
            repo.name = name

    def seed(
        self,
        repo: Repository,
        source: Mapping[str, str | bytes] | Path,
        message: str = "Initial commit",
        *,
        branch: str | None = None,
    ) -> str:
        """Put content into a repository without asking anybody, and return the new commit.

        `source` is path → text (an executable file's path ends in "*", a link's text follows a
        path ending in "@"), a folder, a bare repository or a bundle; the last two are
        fetched with their history. On a branch that exists the files replace all there was.
        """
        with self.lock:
            branch = branch or repo.default_branch
            if isinstance(source, Path) and _is_git(source):
                return _fetch(repo, source, branch)
            files = source if isinstance(source, Mapping) else _folder(source)
            return _commit(self, repo, files, message, branch)

    def branch(self, repo: Repository, name: str, start: str | None = None) -> str:
        """Make a branch at another one's head (the default branch's when None)."""
        with self.lock:
            sha = git_store.branch_sha(repo.path, start or repo.default_branch)
            if sha is None:
                raise ValueError(f"{repo.full_name} has no branch {start or 'with a commit'}")
            git_store.update_reference(repo.path, f"refs/heads/{name}", sha, NO_SHA)
            return sha

    def install(
        self,
        selection: Literal["all"] | Iterable[Repository] = "all",
        *,
        permissions: dict[str, str] | None = None,
    ) -> Installation:
        """Install the App on the organisation; sends `installation` created."""
        with self.lock:
            return installations.install(self, selection, self.maintainer, permissions=permissions)

    def uninstall(self, installation: Installation) -> None:
        """Remove an installation; sends `installation` deleted."""
        with self.lock:
            installations.uninstall(self, installation, self.maintainer)

    def suspend(self, installation: Installation) -> None:
        """Suspend an installation; sends `installation` suspend."""
        with self.lock:
            installations.suspend(self, installation, self.maintainer)

    def unsuspend(self, installation: Installation) -> None:
        """End a suspension; sends `installation` unsuspend."""
        with self.lock:
            installations.unsuspend(self, installation, self.maintainer)

    def add_to_installation(self, installation: Installation, *repos: Repository) -> None:
        """Let a selected installation cover more; sends `installation_repositories`."""
        with self.lock:
            installations.add_repositories(self, installation, list(repos), self.maintainer)

    def remove_from_installation(self, installation: Installation, *repos: Repository) -> None:
        """Let a selected installation cover less; sends `installation_repositories`."""
        with self.lock:
            installations.remove_repositories(self, installation, list(repos), self.maintainer)

    def open_issue(
        self,
        repo: Repository,
        title: str,
        body: str | None = None,
        user: User | None = None,
        *,
        labels: Iterable[str] = (),
    ) -> Issue:
        """Open an issue as `user` (the maintainer when None)."""
        with self.lock:
            return issues.open_issue(
                self, repo, title, body, user or self.maintainer, labels=labels
            )

    def edit_issue(
        self,
        repo: Repository,
        number: int,
        user: User | None = None,
        *,
        title: str | None = None,
        body: str | None = None,
    ) -> None:
        """Change an issue's title or body."""
        with self.lock:
            issues.edit_text(
                self,
                repo,
                repo.issues[number],
                user or self.maintainer,
                title=title,
                body=body,
            )

    def close_issue(self, repo: Repository, number: int, user: User | None = None) -> None:
        """Close an issue or pull request."""
        with self.lock:
            issues.close(self, repo, repo.issues[number], user or self.maintainer)

    def add_label(
        self, repo: Repository, number: int, label: str, user: User | None = None
    ) -> Label:
        """Put a label on an issue or pull request; the label is made when there is none."""
        with self.lock:
            issues.add_labels(self, repo, repo.issues[number], [label], user or self.maintainer)
            return repo.labels[label.lower()]

    def remove_label(
        self, repo: Repository, number: int, label: str, user: User | None = None
    ) -> None:
        """Take a label off."""
        with self.lock:
            issues.remove_label(self, repo, repo.issues[number], label, user or self.maintainer)

    def comment(
        self, repo: Repository, number: int, body: str, user: User | None = None
    ) -> Comment:
        """Comment on an issue or pull request."""
        with self.lock:
            return issues.comment(self, repo, repo.issues[number], body, user or self.maintainer)

    def open_pull(
        self,
        repo: Repository,
        title: str,
        head: str,
        body: str | None = None,
        user: User | None = None,
        *,
        base: str | None = None,
        draft: bool = False,
    ) -> Issue:
        """Open a pull request of a branch that exists."""
        with self.lock:
            proposal = pulls.Proposal(title, body, head, base or repo.default_branch, draft)
            return pulls.open_pull(self, repo, proposal, user or self.maintainer)

    def merge_pull(self, repo: Repository, number: int, user: User | None = None) -> str:
        """Take a pull request for ready and merge it; returns the new commit."""
        with self.lock:
            where = (self, repo, repo.issues[number], user or self.maintainer)
            merging.make_ready(*where)
            return merging.merge(*where)

    def reopen_issue(self, repo: Repository, number: int, user: User | None = None) -> None:
        """Open a closed issue or pull request again."""
        with self.lock:
            issues.reopen(self, repo, repo.issues[number], user or self.maintainer)

    def lock_issue(self, repo: Repository, number: int) -> None:
        """Close the conversation to everybody who cannot write."""
        with self.lock:
            repo.issues[number].locked = True

    def webhook(self, url: str, secret: str, *, ping: bool = False) -> None:
        """Where the App's events go from now on; with `ping` GitHub's first event is sent."""
        with self.lock:
            self.webhooks.url, self.webhooks.secret = url, secret
            if ping:
                events.ping(self)

    def close(self) -> None:
        """Let running deliveries end; the bare repositories stay on disk."""
        self.webhooks.close()


def _is_git(source: Path) -> bool:
    return source.is_file() or ((source / "HEAD").is_file() and (source / "objects").is_dir())


def _fetch(repo: Repository, source: Path, branch: str) -> str:
    where = str(source.resolve())
    head = "HEAD"
    git_store.git(repo.path, "fetch", "--quiet", where, f"+{head}:refs/heads/{branch}")
    if not source.is_file():
        git_store.git(repo.path, "fetch", "--quiet", "--tags", where)
    sha = git_store.branch_sha(repo.path, branch)
    assert sha is not None
    return sha


def _folder(source: Path) -> dict[str, str | bytes]:
    files: dict[str, str | bytes] = {}
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if ".git" in name.split("/"):
            continue
        if path.is_symlink():
            files[f"{name}@"] = str(path.readlink())
        elif path.is_file():
            files[f"{name}*" if path.stat().st_mode & 0o100 else name] = path.read_bytes()
    return files


def _commit(
    state: State, repo: Repository, files: Mapping[str, str | bytes], message: str, branch: str
) -> str:
    modes = {"*": "100755", "@": "120000"}
    entries = {
        name.rstrip("*@"): (
            modes.get(name[-1], "100644"),
            content.encode() if isinstance(content, str) else content,
        )
        for name, content in files.items()
    }
    when = f"{int(state.now().timestamp())} +0000"
    who = Signature("Maintainer", "maintainer@example.org", when)
    return commit_files(repo.path, branch, entries, f"{message}\n", who)
