"""The pages a person looks at, and the forms that act as the maintainer."""

from typing import Any

import httpx
import pytest

BODY = """Fixes #1

| | before | after |
|---|---|---|
| test | ✗ | ✓ |

<details><summary>More</summary>

- folded

</details>

<script>alert(1)</script>
"""


@pytest.fixture
async def browse(github: Any, repo: Any) -> Any:
    """A client that follows redirects, and an issue with a draft pull request."""
    github.open_issue(repo, "It `breaks` <b>", "Look: **here**")
    github.branch(repo, "fix")
    github.seed(repo, {"README.md": "# Demo!\n", "<x>.txt": "1\n"}, "Fix it", branch="fix")
    github.open_pull(repo, "Fix it", "fix", BODY, github.bot, draft=True)
    async with httpx.AsyncClient(
        base_url=github.url, follow_redirects=True, verify=False
    ) as client:
        yield client


async def test_pages_render(browse: Any, github: Any, repo: Any) -> None:
    """Every page answers with HTML, escapes what strangers wrote and loads nothing foreign."""
    for path in (
        "/",
        "/acme/demo",
        "/acme/demo/issues",
        "/acme/demo/pulls",
        "/acme/demo/issues/1",
        "/acme/demo/pull/2",
        "/acme/demo/issues/2",
        "/acme/demo/commit/fix",
        "/acme/demo/blob/main/src/calc.py",
    ):
        page = await browse.get(path)
        assert page.status_code == 200, path
        assert "<script>alert" not in page.text
        assert "<b>#" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (await browse.get("/acme/demo/issues/99")).status_code == 404
    assert (await browse.get("/acme/nope/issues")).status_code == 404
    assert (await browse.get("/_emulator/static/style.css")).status_code == 200


async def test_issue_page(browse: Any) -> None:
    """An issue shows its text, and the pull request that will close it."""
    page = (await browse.get("/acme/demo/issues/1")).text
    assert "<strong>here</strong>" in page
    assert "It <code>breaks</code> &lt;b&gt;" in page
    assert '<a href="/acme/demo/pull/2">Fix it</a> #2 will close this issue' in page


async def test_pull_page(browse: Any) -> None:
    """A pull request shows the draft badge, table, fold, commits and the diff."""
    page = (await browse.get("/acme/demo/pull/2")).text
    assert '<span class="badge draft">Draft</span>' in page
    assert "<td>✓</td>" in page
    assert "<details><summary>More</summary>" in page
    assert "&lt;script&gt;" in page
    assert "Fix it" in page
    assert "<code># Demo!</code>" in page
    assert "&lt;x&gt;.txt" in page
    plain = (await browse.get("/acme/demo/pull/2.diff")).text
    assert plain.startswith("diff --git ")


async def test_forms(browse: Any, github: Any, repo: Any, receiver: Any) -> None:
    """The button labels and the box comments as the maintainer, with webhooks."""
    github.webhook(receiver.url, "secret")
    page = await browse.post("/acme/demo/issues/1/labels", data={"label": "prism-fix"})
    assert "Remove label" in page.text
    page = await browse.post("/acme/demo/issues/1/comments", data={"body": "/prism\r\nrerun"})
    assert page.url.path == "/acme/demo/issues/1"
    [comment] = repo.issues[1].comments
    assert (comment.body, comment.user) == ("/prism\nrerun", github.maintainer)
    page = await browse.post("/acme/demo/issues/1/labels", data={"remove": "prism-fix"})
    assert "Add label" in page.text
    github.webhooks.settle()
    assert sorted(headers["x-github-event"] for headers, _ in receiver.seen) == [
        "issue_comment",
        "issues",
        "issues",
    ]


async def test_foreign_forms(browse: Any, repo: Any) -> None:
    """A form on another site does not act as the maintainer; an empty comment is refused."""
    headers = {"Origin": "https://example.org"}
    path = "/acme/demo/issues/1/comments"
    answer = await browse.post(path, data={"body": "x"}, headers=headers)
    assert answer.status_code == 403
    assert (await browse.post(path, data={"body": " "})).status_code == 422
    assert repo.issues[1].comments == []
