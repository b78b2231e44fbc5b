"""git clone, fetch and push against the emulator, with git itself."""

import asyncio
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from emulator.github import git_store


@pytest.fixture
def git(github: Any, tmp_path: Path) -> Any:
    """`await git(token, *arguments)`: run git with a token that no file ever holds."""

    async def run(token: str | None, *arguments: str) -> subprocess.CompletedProcess[str]:
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        if token is not None:
            basic = b64encode(f"x-access-token:{token}".encode()).decode()
            env |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{github.url}/.extraheader",
                "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {basic}",
            }
        return await asyncio.to_thread(
            subprocess.run,
            ["git", *arguments],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
async def clone(github: Any, git: Any, token: str, tmp_path: Path) -> Path:
    """A clone of acme/demo with one new commit."""
    where = tmp_path / "clone"
    assert (await git(token, "clone", "-q", f"{github.url}/acme/demo.git", str(where))).stderr == ""
    (where / "big.bin").write_bytes(bytes(range(256)) * 12_000)
    (where / "src/calc.py").write_text("def add(a, b):\n    return a + b\n")
    await git(None, "-C", str(where), "add", "-A")
    assert (await git(None, "-C", str(where), "commit", "-qm", "Fix")).returncode == 0
    return where


async def test_push_and_pull_request(
    github: Any, ask: Any, git: Any, token: str, clone: Path
) -> None:
    """A branch pushed by git (3 MB, chunked) is there for the REST API at once."""
    pushed = await git(token, "-C", str(clone), "push", "-q", "origin", "HEAD:refs/heads/fix")
    assert pushed.returncode == 0, pushed.stderr
    body = {"title": "Fix", "head": "fix", "base": "main"}
    made = await ask("POST /repos/acme/demo/pulls", token, json=body)
    assert made.status_code == 201
    assert made.json()["changed_files"] == 2


async def test_push_updates_pull_request(
    github: Any, git: Any, repo: Any, token: str, clone: Path, receiver: Any
) -> None:
    """A push to the branch of an open pull request is announced as `synchronize`."""
    await git(token, "-C", str(clone), "push", "-q", "origin", "HEAD:refs/heads/fix")
    github.open_pull(repo, "Fix", "fix")
    github.webhook(receiver.url, "secret")
    await git(None, "-C", str(clone), "commit", "-q", "--allow-empty", "-m", "More")
    await git(token, "-C", str(clone), "push", "-q", "origin", "HEAD:refs/heads/fix")
    github.webhooks.settle()
    [delivery] = github.webhooks.deliveries
    assert (delivery.event, delivery.action) == ("pull_request", "synchronize")
    assert delivery.payload["after"] == git_store.branch_sha(repo.path, "fix")


@pytest.mark.parametrize("permissions", [{"contents": "read"}, {"issues": "write"}])
async def test_no_write(
    github: Any,
    git: Any,
    installation: Any,
    repo: Any,
    clone: Path,
    permissions: dict[str, str],
) -> None:
    """Without `contents: write` nothing is pushed."""
    narrow = github.installation_token(installation, permissions)
    pushed = await git(narrow, "-C", str(clone), "push", "origin", "HEAD:refs/heads/fix")
    assert pushed.returncode != 0
    assert git_store.branch_sha(repo.path, "fix") is None


async def test_no_clone(github: Any, git: Any, ask: Any, installation: Any) -> None:
    """A private repository is not cloned without a token, with a bad one, or without contents."""
    url = f"{github.url}/acme/demo.git"
    narrow = github.installation_token(installation, {"issues": "write"})
    for token in (None, "ghs_nonsense", narrow):
        assert (await git(token, "clone", "-q", url, "never")).returncode != 0
    public = github.add_repository("open")
    github.seed(public, {"a": "1"})
    assert (await git(None, "clone", "-q", f"{github.url}/acme/open.git", "open")).returncode == 0


async def test_workflows(github: Any, git: Any, token: str, repo: Any, clone: Path) -> None:
    """A push that changes a workflow is refused by name; one that only inherits it is not."""
    workflow = clone / ".github/workflows/ci.yml"
    workflow.parent.mkdir(parents=True)
    workflow.write_text("on: push\n")
    await git(None, "-C", str(clone), "add", "-A")
    await git(None, "-C", str(clone), "commit", "-qm", "Workflow")
    refused = await git(token, "-C", str(clone), "push", "origin", "HEAD:refs/heads/fix")
    assert "without `workflows` permission" in refused.stderr
    person = github.token_for(github.maintainer)
    assert (await git(person, "-C", str(clone), "push", "origin", "HEAD:main")).returncode == 0
    allowed = await git(token, "-C", str(clone), "push", "origin", "HEAD:refs/heads/fix")
    assert allowed.returncode == 0
