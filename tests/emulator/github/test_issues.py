"""Issues, labels, comments and reactions over REST."""

from typing import Any

import pytest

REPO = "/repos/acme/demo"


@pytest.fixture
def issue(github: Any, repo: Any) -> Any:
    """An open issue without a body."""
    return github.open_issue(repo, "It breaks 💥")


async def test_issue_life(ask: Any, token: str, writer: str) -> None:
    """An issue is opened, edited, closed with a reason and opened again."""
    body = {"title": "T", "body": "B", "labels": ["Bug"]}
    made = await ask(f"POST {REPO}/issues", writer, json=body)
    assert (made.status_code, made.json()["number"]) == (201, 1)
    assert [each["name"] for each in made.json()["labels"]] == ["Bug"]
    for change, field, value in (
        ({"title": "U"}, "title", "U"),
        ({"body": None}, "body", ""),
        ({"state": "closed", "state_reason": "not_planned"}, "state_reason", "not_planned"),
        ({"state": "open"}, "state", "open"),
        ({"labels": []}, "labels", []),
    ):
        changed = await ask(f"PATCH {REPO}/issues/1", token, json=change)
        assert changed.json()[field] == value


async def test_reader_labels_are_dropped(ask: Any, reader: str) -> None:
    """Somebody without triage opens an issue, but without labels."""
    body = {"title": "T", "labels": ["prism-fix"]}
    assert (await ask(f"POST {REPO}/issues", reader, json=body)).json()["labels"] == []


async def test_null_body(ask: Any, token: str, issue: Any) -> None:
    """An issue without a body has null, not an empty text."""
    assert (await ask(f"GET {REPO}/issues/1", token)).json()["body"] is None


async def test_labels(ask: Any, token: str, issue: Any) -> None:
    """A label exists once whatever its case; taking off what is not on is 404."""
    path = f"{REPO}/issues/1/labels"
    await ask(f"POST {path}", token, json={"labels": ["Prism-Fix"]})
    again = await ask(f"POST {path}", token, json={"labels": ["prism-fix"]})
    assert [each["name"] for each in again.json()] == ["Prism-Fix"]
    assert (await ask(f"DELETE {path}/PRISM-FIX", token)).json() == []
    assert (await ask(f"DELETE {path}/prism-fix", token)).status_code == 404
    assert (await ask(f"POST {REPO}/labels", token, json={"name": "prism-fix"})).status_code == 422
    assert (await ask(f"GET {REPO}/labels/prism-fix", token)).json()["name"] == "Prism-Fix"


async def test_comment_life(ask: Any, token: str, issue: Any) -> None:
    """The App's comment names the App, keeps its id when edited, and is gone when deleted."""
    made = await ask(f"POST {REPO}/issues/1/comments", token, json={"body": "one"})
    assert made.json()["performed_via_github_app"]["slug"] == "prism"
    assert made.json()["user"] == made.json()["user"] | {"login": "prism[bot]", "type": "Bot"}
    path = f"{REPO}/issues/comments/{made.json()['id']}"
    assert (await ask(f"PATCH {path}", token, json={"body": "two"})).json()["body"] == "two"
    listed = await ask(f"GET {REPO}/issues/1/comments", token)
    assert [each["body"] for each in listed.json()] == ["two"]
    assert (await ask(f"GET {REPO}/issues/1", token)).json()["comments"] == 1
    assert (await ask(f"DELETE {path}", token)).status_code == 204
    assert (await ask(f"GET {path}", token)).status_code == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [("", 422), (" \n", 422), ("x" * 262_144, 201), ("x" * 262_145, 422), ("ü" * 131_073, 422)],
)
async def test_comment_bodies(ask: Any, token: str, issue: Any, body: str, status: int) -> None:
    """A comment is not blank and has at most 262,144 bytes."""
    answer = await ask(f"POST {REPO}/issues/1/comments", token, json={"body": body})
    assert answer.status_code == status


async def test_long_issue_body_is_ignored(ask: Any, token: str, issue: Any) -> None:
    """Too long a body in an update is answered 200 with the former text, as GitHub does."""
    answer = await ask(f"PATCH {REPO}/issues/1", token, json={"body": "x" * 262_145})
    assert (answer.status_code, answer.json()["body"]) == (200, None)


async def test_foreign_comment(github: Any, ask: Any, repo: Any, issue: Any, reader: str) -> None:
    """A person without write changes only their own comments."""
    theirs = github.comment(repo, 1, "mine")
    path = f"PATCH {REPO}/issues/comments/{theirs.id}"
    assert (await ask(path, reader, json={"body": "x"})).status_code == 403


async def test_locked(
    github: Any, ask: Any, repo: Any, issue: Any, token: str, writer: str
) -> None:
    """A locked conversation is closed to the App, open to those who can write."""
    github.lock_issue(repo, 1)
    said = {"json": {"body": "x"}}
    answer = await ask(f"POST {REPO}/issues/1/comments", token, **said)
    assert answer.status_code == 403
    assert answer.json()["message"] == "Unable to create comment because issue is locked."
    assert (await ask(f"POST {REPO}/issues/1/comments", writer, **said)).status_code == 201


async def test_archived(ask: Any, repo: Any, issue: Any, token: str) -> None:
    """An archived repository is read-only."""
    repo.archived = True
    assert (await ask(f"GET {REPO}/issues/1", token)).status_code == 200
    answer = await ask(f"POST {REPO}/issues/1/comments", token, json={"body": "x"})
    assert (answer.status_code, "archived" in answer.json()["message"]) == (403, True)


async def test_reactions(github: Any, ask: Any, repo: Any, issue: Any, token: str) -> None:
    """The same reaction twice is one reaction: 201, then 200."""
    comment = github.comment(repo, 1, "/prism rerun")
    path = f"POST {REPO}/issues/comments/{comment.id}/reactions"
    first = await ask(path, token, json={"content": "eyes"})
    second = await ask(path, token, json={"content": "eyes"})
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert (await ask(path, token, json={"content": "thumbs"})).status_code == 422


async def test_pages_of_lists(github: Any, ask: Any, repo: Any, token: str) -> None:
    """Lists come in pages of 30 or `per_page`, with a Link header that leads through all."""
    for number in range(7):
        github.open_issue(repo, f"Issue {number}")
    seen: list[int] = []
    operation = f"GET {REPO}/issues?per_page=3&state=all"
    while operation:
        answer = await ask(operation, token)
        seen += [each["number"] for each in answer.json()]
        following = answer.links.get("next")
        operation = f"GET {following['url']}" if following else ""
    assert seen == [7, 6, 5, 4, 3, 2, 1]
    first = await ask(f"GET {REPO}/issues?per_page=3", token)
    assert set(first.links) == {"next", "last"}
    assert first.links["last"]["url"].endswith("page=3")


async def test_filters(github: Any, ask: Any, repo: Any, token: str) -> None:
    """`state` and `labels` filter the list."""
    github.open_issue(repo, "A", labels=["prism-fix", "bug"])
    github.open_issue(repo, "B", labels=["bug"])
    github.open_issue(repo, "C")
    github.close_issue(repo, 3)
    for query, numbers in (
        ("", [2, 1]),
        ("?state=closed", [3]),
        ("?labels=BUG", [2, 1]),
        ("?labels=bug,prism-fix", [1]),
    ):
        found = await ask(f"GET {REPO}/issues{query}", token)
        assert [each["number"] for each in found.json()] == numbers
