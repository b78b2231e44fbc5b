"""Pull requests and check runs over REST."""

from typing import Any

import pytest

PULLS = "/repos/acme/demo/pulls"


@pytest.fixture
def branch(github: Any, repo: Any) -> str:
    """The branch `fix`, one commit ahead of `main`."""
    github.branch(repo, "side")
    github.seed(repo, {"unrelated": "1"}, branch="orphan")
    github.branch(repo, "fix")
    github.seed(repo, {"README.md": "# Demo!\n", "a.txt": "1\n"}, "Fix it", branch="fix")
    return "fix"


@pytest.fixture
def body(branch: str) -> dict[str, Any]:
    """A request for a draft pull request."""
    return {"title": "Fix", "head": branch, "base": "main", "body": "Fixes #1", "draft": True}


async def test_pull_request(ask: Any, token: str, body: dict[str, Any]) -> None:
    """A draft is opened once, found by its head, and has commits, files and sizes."""
    made = await ask(f"POST {PULLS}", token, json=body)
    assert made.status_code == 201
    pull = made.json()
    assert (pull["draft"], pull["state"], pull["commits"]) == (True, "open", 1)
    assert pull["head"]["label"] == "acme:fix"
    assert pull["html_url"].endswith("/acme/demo/pull/1")
    again = await ask(f"POST {PULLS}", token, json=body)
    assert again.status_code == 422
    assert again.json()["errors"][0]["message"] == "A pull request already exists for acme:fix."
    for query, count in (("head=acme:fix", 1), ("head=acme:other", 0), ("base=main", 1)):
        assert len((await ask(f"GET {PULLS}?{query}", token)).json()) == count
    assert (await ask("GET /repos/acme/demo/issues/1", token)).json()["pull_request"]
    files = (await ask(f"GET {PULLS}/1/files", token)).json()
    assert sum(each["additions"] for each in files) == pull["additions"]
    commits = (await ask(f"GET {PULLS}/1/commits", token)).json()
    assert [each["sha"] for each in commits] == [pull["head"]["sha"]]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"head": "nowhere"}, "head"),
        ({"base": "nowhere"}, "base"),
        ({"head": "stranger:fix"}, "head"),
        ({"head": "main"}, None),
        ({"head": "orphan"}, None),
        ({"body": "x" * 65_537}, "body"),
        ({"title": " "}, "title"),
        ({"title": "x" * 257}, "title"),
    ],
)
async def test_refused(
    ask: Any, token: str, body: dict[str, Any], change: dict[str, Any], field: str | None
) -> None:
    """What GitHub cannot merge, or show, is 422 with the field that is wrong."""
    answer = await ask(f"POST {PULLS}", token, json=body | change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0].get("field") == field


async def test_longest_body(ask: Any, token: str, body: dict[str, Any]) -> None:
    """A body may have 65,536 characters, however many bytes they take."""
    answer = await ask(f"POST {PULLS}", token, json=body | {"body": "ü" * 65_536})
    assert answer.status_code == 201
    longer = await ask(f"PATCH {PULLS}/1", token, json={"body": "ü" * 65_537})
    assert longer.status_code == 422


async def test_change(github: Any, ask: Any, repo: Any, token: str, body: dict[str, Any]) -> None:
    """Title, body, base and state change; a closed one makes room for another."""
    await ask(f"POST {PULLS}", token, json=body)
    change = {"title": "U", "body": "V", "base": "side"}
    changed = (await ask(f"PATCH {PULLS}/1", token, json=change)).json()
    assert (changed["title"], changed["body"], changed["base"]["ref"]) == ("U", "V", "side")
    closed = await ask(f"PATCH {PULLS}/1", token, json={"state": "closed"})
    assert closed.json()["closed_at"]
    assert (await ask(f"POST {PULLS}", token, json=body)).json()["number"] == 2
    assert (await ask(f"GET {PULLS}/3", token)).status_code == 404


async def test_head_follows_branch(
    github: Any, ask: Any, repo: Any, token: str, body: dict[str, Any]
) -> None:
    """The head is where the branch stands now; a deleted branch keeps the last commit."""
    await ask(f"POST {PULLS}", token, json=body)
    newer = github.seed(repo, {"a.txt": "3\n"}, "More", branch="fix")
    assert (await ask(f"GET {PULLS}/1", token)).json()["head"]["sha"] == newer
    await ask("DELETE /repos/acme/demo/git/refs/heads/fix", token)
    assert (await ask(f"GET {PULLS}/1", token)).json()["head"]["sha"] == newer


@pytest.mark.parametrize("method", ["merge", "squash"])
async def test_merge(
    github: Any, ask: Any, repo: Any, writer: str, body: dict[str, Any], method: str
) -> None:
    """The base branch has the change, and `closed` says that it is merged, by whom and when."""
    github.webhook("http://127.0.0.1:9/", "a-secret-of-the-right-length-1234")
    github.webhooks.timeout_s = 0.1
    head = (await ask(f"POST {PULLS}", writer, json=body)).json()["head"]["sha"]
    merge = f"PUT {PULLS}/1/merge"
    draft = await ask(merge, writer, json={})
    assert (draft.status_code, draft.json()["message"]) == (405, "Pull Request is still a draft")
    repo.issues[1].pull.draft = False
    assert (await ask(merge, writer, json={"sha": "0" * 40})).status_code == 409
    how = {"merge_method": method, "sha": head}
    sha = (await ask(merge, writer, json=how)).json()["sha"]
    assert (await ask(merge, writer, json=how)).status_code == 405
    commit = (await ask(f"GET /repos/acme/demo/git/commits/{sha}", writer)).json()
    assert len(commit["parents"]) == {"merge": 2, "squash": 1}[method]
    assert (await ask("GET /repos/acme/demo/git/ref/heads/main", writer)).json()["object"][
        "sha"
    ] == sha
    again = await ask(f"PATCH {PULLS}/1", writer, json={"state": "open"})
    assert again.status_code == 422
    closed = github.webhooks.deliveries[-1]
    told = closed.payload["pull_request"]
    assert (closed.action, told["merged"], told["merge_commit_sha"]) == ("closed", True, sha)
    assert told["merged_by"]["login"] == "writer"
    assert told["head"]["sha"] == head


async def test_conflict(
    github: Any, ask: Any, repo: Any, writer: str, body: dict[str, Any]
) -> None:
    """What cannot be merged stays open; a plain close says so, too."""
    await ask(f"POST {PULLS}", writer, json=body | {"draft": False})
    github.seed(repo, {"README.md": "# Other\n"}, "Other")
    assert (await ask(f"PUT {PULLS}/1/merge", writer, json={})).status_code == 405
    closed = await ask(f"PATCH {PULLS}/1", writer, json={"state": "closed"})
    assert (closed.json()["merged"], closed.json()["merged_at"]) == (False, None)
    reopened = await ask(f"PATCH {PULLS}/1", writer, json={"state": "open"})
    assert reopened.json()["state"] == "open"


async def test_check_run(ask: Any, token: str, writer: str, body: dict[str, Any]) -> None:
    """Only the App makes a check run; a conclusion completes it; it is found by branch."""
    pull = (await ask(f"POST {PULLS}", token, json=body)).json()
    checks = "/repos/acme/demo/check-runs"
    run = {"name": "prism", "head_sha": pull["head"]["sha"], "status": "in_progress"}
    assert (await ask(f"POST {checks}", writer, json=run)).status_code == 403
    made = (await ask(f"POST {checks}", token, json=run)).json()
    assert [each["number"] for each in made["pull_requests"]] == [1]
    done = {"conclusion": "success", "output": {"title": "t", "summary": "s"}}
    ended = (await ask(f"PATCH {checks}/{made['id']}", token, json=done)).json()
    assert (ended["status"], ended["output"]["summary"]) == ("completed", "s")
    listed = (await ask("GET /repos/acme/demo/commits/fix/check-runs", token)).json()
    assert [each["id"] for each in listed["check_runs"]] == [made["id"]]
    for wrong in ({**run, "head_sha": "1" * 40}, {**run, "status": "completed?"}, {"name": "x"}):
        assert (await ask(f"POST {checks}", token, json=wrong)).status_code == 422
