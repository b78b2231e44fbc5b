"""Real git repositories, and an emulated GitHub that checks every request it sees."""

import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.github.client import GitHubApp, GitHubRepo
from app.github.mirror import Remote
from app.github.source import MirrorSource, checkout
from app.github.values import Purpose
from app.settings import Settings
from emulator.github.cli import use_manifest
from emulator.github.hub import GitHub
from emulator.github.records import Installation
from emulator.github.records import Repository as EmulatedRepository
from emulator.github.running import running

CALC = "def add(a, b):\n    return a - b\n"

QUIET = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Repository:
    """A working repository that a test fills and commits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=trunk")

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """Run git in the work tree and return its output."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**os.environ, **QUIET},
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape")

    def write(self, path: str, content: str | bytes) -> None:
        """Create or replace a file."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, message: str = "change") -> str:
        """Commit everything and return the commit."""
        self.git("add", "-A", "-f")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def patch(self) -> str:
        """The work tree's change as a patch, with new files."""
        self.git("add", "-A", "-f")
        return self.git("diff", "--cached", "--binary", "--full-index", "--no-renames", "HEAD")


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[[str], Repository]:
    """Make an empty repository of a name."""
    return lambda name: Repository(tmp_path / name)


@pytest.fixture
def repository(make_repository: Callable[[str], Repository]) -> Repository:
    """A repository with two files and one commit."""
    made = make_repository("project")
    made.write("src/calc.py", "def add(a, b):\n    return a - b\n")
    made.write("README.md", "calc\n")
    made.commit("first")
    return made


@dataclass(frozen=True, slots=True)
class Site:
    """An emulated GitHub with one seeded repository, the App installed, and its client."""

    hub: GitHub
    repo: EmulatedRepository
    installation: Installation
    settings: Settings
    app: GitHubApp
    base: str

    def open(self, purpose: Purpose = "publish") -> AbstractAsyncContextManager[GitHubRepo]:
        """The repository with a token for `purpose`."""
        return self.app.repository(self.installation.id, self.repo.id, self.repo.full_name, purpose)

    async def remote(self) -> Remote:
        """Where the mirror is fetched from, with a token that can read."""
        token = await self.app.token(self.installation.id, self.repo.id, "read")
        return Remote(self.settings.github_url, self.repo.full_name, token)

    async def source(self) -> MirrorSource:
        """The seeded repository, fetched."""
        return await checkout(
            self.settings.data_dir,
            self.installation.id,
            self.repo.id,
            await self.remote(),
            self.repo.default_branch,
        )

    def requests(self, method: str, ending: str) -> list[dict[str, Any]]:
        """Requests the hub has seen, by method and end of the path."""
        return [
            seen
            for seen in self.hub.requests
            if seen["method"] == method and seen["path"].endswith(ending)
        ]


@pytest.fixture
async def site(tmp_path: Path, app_key: Path) -> AsyncIterator[Site]:
    """A private repository `acme/widgets` whose default branch is `trunk`, and the App."""
    shutil.copytree(app_key, tmp_path / "github")
    hub = GitHub(tmp_path / "github")
    use_manifest(hub, Path(__file__).parents[3] / "app.yml")
    async with running(hub):
        repo = hub.add_repository("widgets", "trunk", private=True)
        base = hub.seed(repo, {"src/calc.py": CALC, "README.md": "calc\n"})
        installation = hub.install()
        host = hub.url.removeprefix("http://")
        settings = Settings(
            app_id=str(hub.app_id),
            private_key=hub.key.pem,
            ghe_host=host,
            ghe_protocol="http",
            data_dir=tmp_path / "data",
        )
        yield Site(hub, repo, installation, settings, GitHubApp(settings), base)
        assert hub.violations == []
