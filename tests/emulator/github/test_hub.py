"""Setting the emulator up: sources of a repository, renames, organisations."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from emulator.github import git_store


def names(repo: Any, revision: str = "HEAD") -> list[str]:
    """The files of a revision."""
    return git_store.git(repo.path, "ls-tree", "-r", "--name-only", revision).decode().split()


def test_seed_folder(hub: Any, tmp_path: Path) -> None:
    """A folder is committed with its modes and links, without its .git."""
    source = tmp_path / "source"
    (source / ".git").mkdir(parents=True)
    (source / ".git" / "secret").write_text("x")
    (source / "run").write_text("#!/bin/sh\n")
    (source / "run").chmod(0o755)
    (source / "link").symlink_to("run")
    repo = hub.add_repository("lib", "develop")
    hub.seed(repo, source)
    modes = git_store.git(repo.path, "ls-tree", "develop").decode()
    assert names(repo) == ["link", "run"]
    assert "120000" in modes
    assert "100755" in modes


@pytest.mark.parametrize("kind", ["bare", "bundle"])
def test_seed_history(hub: Any, repo: Any, tmp_path: Path, kind: str) -> None:
    """A bare repository and a bundle bring their history."""
    hub.seed(repo, {"second": "2"}, "Second")
    source = repo.path
    if kind == "bundle":
        source = tmp_path / "demo.bundle"
        git_store.git(repo.path, "bundle", "create", "-q", str(source), "HEAD", "main")
    copy = hub.add_repository("copy")
    sha = hub.seed(copy, source)
    assert sha == git_store.branch_sha(repo.path, "main")
    assert len(git_store.history(copy.path, "main")) == 2
    assert names(copy) == ["second"]


def test_seed_odd_names(hub: Any) -> None:
    """Any name git can hold is committed as it is, and the repository stays sound."""
    odd = {'a "b"': "1", "ü/ö.txt": "2", "back\\slash": "3", "tab\there": "4"}
    repo = hub.add_repository("odd")
    hub.seed(repo, odd)
    listed = git_store.git(repo.path, "ls-tree", "-r", "-z", "--name-only", "main").decode()
    assert set(listed.split("\0")[:-1]) == set(odd)
    subprocess.run(["git", "fsck", "--strict"], cwd=repo.path, check=True, capture_output=True)


async def test_rename(github: Any, ask: Any, repo: Any, token: str) -> None:
    """A renamed repository is found under both names, with the same id."""
    github.rename(repo, "new-name")
    moved = await ask("GET /repos/acme/demo", token)
    assert moved.status_code == 301
    followed = await ask("GET /repos/acme/demo", token, follow_redirects=True)
    assert (followed.json()["id"], followed.json()["name"]) == (repo.id, "new-name")
    by_id = await ask(f"GET /repositories/{repo.id}/branches", token, follow_redirects=True)
    assert [each["name"] for each in by_id.json()] == ["main"]
    assert (await ask("GET /repositories/1", token)).status_code == 404


async def test_all_repositories(github: Any, ask: Any, token: str, app_jwt: str) -> None:
    """An installation on all repositories covers one that is made later."""
    github.add_repository("later", private=True)
    listed = (await ask("GET /installation/repositories", token)).json()
    assert [each["name"] for each in listed["repositories"]] == ["demo", "later"]
    found = await ask("GET /repos/acme/LATER/installation", app_jwt)
    assert found.json()["repository_selection"] == "all"
    [installation] = (await ask("GET /app/installations", app_jwt)).json()
    assert installation["id"] == found.json()["id"]
