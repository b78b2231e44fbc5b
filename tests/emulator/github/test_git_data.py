"""The git data API and git over HTTP write and read the same repository."""

import asyncio
import base64
import subprocess
from pathlib import Path
from typing import Any

import pytest

from emulator.github import git_store

GIT = "/repos/acme/demo/git"


@pytest.fixture
async def base(ask: Any, token: str) -> dict[str, Any]:
    """The commit at the head of `main`."""
    ref = await ask(f"GET {GIT}/ref/heads/main", token)
    commit = await ask(f"GET {GIT}/commits/{ref.json()['object']['sha']}", token)
    found: dict[str, Any] = commit.json()
    return found


async def tree_of(ask: Any, token: str, base: Any, *entries: dict[str, Any]) -> Any:
    """POST a tree on top of `base`."""
    body = {"base_tree": base["tree"]["sha"], "tree": list(entries)}
    return await ask(f"POST {GIT}/trees", token, json=body)


async def commit_of(ask: Any, token: str, base: Any, tree: str, **more: Any) -> dict[str, Any]:
    """POST a commit on top of `base`."""
    body = {"message": "Fix\n\nBody", "tree": tree, "parents": [base["sha"]], **more}
    made: dict[str, Any] = (await ask(f"POST {GIT}/commits", token, json=body)).json()
    return made


async def test_blob_to_clone(github: Any, ask: Any, token: str, base: Any, tmp_path: Path) -> None:
    """Blob, tree, commit and ref by the API give exactly the tree that git itself clones."""
    content = b"def add(a, b):\r\n    return a + b \xff\n"
    blob = await ask(
        f"POST {GIT}/blobs",
        token,
        json={"content": base64.b64encode(content).decode(), "encoding": "base64"},
    )
    tree = await tree_of(
        ask,
        token,
        base,
        {"path": "src/calc.py", "mode": "100644", "type": "blob", "sha": blob.json()["sha"]},
        {"path": "src/old.py", "mode": "100644", "type": "blob", "sha": None},
        {"path": "new/ü x.txt", "mode": "100755", "type": "blob", "content": "hi\n"},
    )
    commit = await commit_of(ask, token, base, tree.json()["sha"])
    made = await ask(
        f"POST {GIT}/refs", token, json={"ref": "refs/heads/prism/issue-1", "sha": commit["sha"]}
    )
    assert made.status_code == 201
    clone = tmp_path / "clone"
    url = f"{github.url}/acme/demo.git".replace("//", f"//x-access-token:{token}@")
    command = ["git", "clone", "-q", "-b", "prism/issue-1", url, str(clone)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    assert (clone / "src/calc.py").read_bytes() == content
    assert not (clone / "src/old.py").exists()
    assert (clone / "new/ü x.txt").stat().st_mode & 0o100
    assert (clone / "link").readlink() == Path("src/calc.py")
    tracked = git_store.git(clone, "ls-tree", "-r", "--name-only", "HEAD").decode().split("\n")
    assert tracked[:-1] == ["README.md", "bin/run", "link", "new/ü x.txt", "src/calc.py"]
    listed = await ask(f"GET {GIT}/trees/prism/issue-1?recursive=1", token)
    names = [each["path"] for each in listed.json()["tree"] if each["type"] == "blob"]
    assert names == tracked[:-1]
    assert git_store.git(clone, "log", "-1", "--format=%B").decode().strip() == "Fix\n\nBody"


async def test_verified(ask: Any, token: str, base: Any, writer: str) -> None:
    """GitHub signs the App's commit unless an author is named; never a person's."""
    tree = base["tree"]["sha"]
    own = await commit_of(ask, token, base, tree)
    assert own["verification"]["verified"] is True
    assert own["author"]["name"] == "prism[bot]"
    assert own["committer"]["name"] == "GitHub"
    who = {"name": "N", "email": "n@example.org", "date": "2026-01-02T03:04:05Z"}
    named = await commit_of(ask, token, base, tree, author=who)
    assert named["verification"]["verified"] is False
    assert named["author"] == who
    assert (await commit_of(ask, writer, base, tree))["verification"]["verified"] is False


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ({"path": "../x", "mode": "100644", "content": "x"}, 422),
        ({"path": "a/.git/x", "mode": "100644", "content": "x"}, 422),
        ({"path": "/x", "mode": "100644", "content": "x"}, 422),
        ({"path": "nowhere", "mode": "100644", "sha": None}, 422),
        ({"path": "x", "mode": "100644", "sha": "0" * 40}, 422),
        ({"path": "x", "mode": "100666", "content": "x"}, 422),
        ({"path": "x", "mode": "100644"}, 422),
        ({"path": ".github/workflows/ci.yml", "mode": "100644", "content": "x"}, 403),
        ({"path": "src", "mode": "100644", "content": "a file now"}, 201),
        ({"path": "src", "mode": "040000", "sha": None}, 201),
        ({"path": "README.md/x", "mode": "100644", "content": "x"}, 201),
    ],
)
async def test_tree_entries(
    ask: Any, token: str, base: Any, entry: dict[str, Any], status: int
) -> None:
    """A tree takes what git can hold and refuses paths that leave it, name nothing or clash."""
    assert (await tree_of(ask, token, base, entry)).status_code == status


async def test_refs(github: Any, ask: Any, repo: Any, token: str, base: Any) -> None:
    """A ref is made once, moves forward only, and is gone after DELETE."""
    body = {"ref": "refs/heads/a/b", "sha": base["sha"]}
    assert (await ask(f"POST {GIT}/refs", token, json=body)).status_code == 201
    again = await ask(f"POST {GIT}/refs", token, json=body)
    assert (again.status_code, again.json()["message"]) == (422, "Reference already exists")
    for wrong in (
        {**body, "ref": "heads/x"},
        {**body, "ref": "refs/heads/a..b"},
        {**body, "ref": "refs/heads/a"},
        {"ref": "refs/heads/x", "sha": "1" * 40},
        {"ref": "refs/heads/x", "sha": base["tree"]["sha"]},
    ):
        assert (await ask(f"POST {GIT}/refs", token, json=wrong)).status_code == 422
    ahead = await commit_of(ask, token, base, base["tree"]["sha"])
    forward = await ask(f"PATCH {GIT}/refs/heads/a/b", token, json={"sha": ahead["sha"]})
    assert forward.json()["object"]["sha"] == ahead["sha"]
    back = await ask(f"PATCH {GIT}/refs/heads/a/b", token, json={"sha": base["sha"]})
    assert back.json()["message"] == "Update is not a fast forward"
    forced = {"sha": base["sha"], "force": True}
    assert (await ask(f"PATCH {GIT}/refs/heads/a/b", token, json=forced)).status_code == 200
    names = await ask(f"GET {GIT}/matching-refs/heads/a", token)
    assert [each["ref"] for each in names.json()] == ["refs/heads/a/b"]
    assert (await ask(f"DELETE {GIT}/refs/heads/a/b", token)).status_code == 204
    assert (await ask(f"GET {GIT}/ref/heads/a/b", token)).status_code == 404
    assert (await ask(f"DELETE {GIT}/refs/heads/a/b", token)).status_code == 422


async def test_empty_repository(github: Any, ask: Any, token: str) -> None:
    """Without a commit the git data API answers 409, the branch 404, the clone is empty."""
    github.add_repository("empty", "develop")
    there = "/repos/acme/empty"
    assert (await ask(f"GET {there}", token)).json()["default_branch"] == "develop"
    for path in ("/git/ref/heads/develop", "/commits", "/git/trees/develop"):
        assert (await ask(f"GET {there}{path}", token)).status_code == 409
    blob = await ask(f"POST {there}/git/blobs", token, json={"content": "x"})
    assert (blob.status_code, blob.json()["message"]) == (409, "Git Repository is empty.")
    assert (await ask(f"GET {there}/branches/develop", token)).status_code == 404


async def test_commits_and_contents(ask: Any, token: str, base: Any) -> None:
    """Commits show their files with hunks; contents come as base64 or as a listing."""
    commit = (await ask("GET /repos/acme/demo/commits/main", token)).json()
    assert {each["filename"] for each in commit["files"]} >= {"README.md", "src/calc.py"}
    assert commit["stats"]["additions"] == sum(each["additions"] for each in commit["files"])
    file = (await ask("GET /repos/acme/demo/contents/src/calc.py", token)).json()
    assert base64.b64decode(file["content"]).startswith(b"def add")
    folder = (await ask("GET /repos/acme/demo/contents/src?ref=main", token)).json()
    assert [each["name"] for each in folder] == ["calc.py", "old.py"]
    for missing in ("/contents/nope", "/contents/src?ref=nope"):
        assert (await ask(f"GET /repos/acme/demo{missing}", token)).status_code == 404
    assert (await ask("GET /repos/acme/demo/commits/nope", token)).status_code == 422
