"""Real git repositories for the tests of mirrors and patches."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

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
