"""githubkit, a client not written for this emulator, drives the App's whole way."""

from typing import Any

import pytest
from githubkit import AppAuthStrategy, GitHub
from githubkit.cache import MemCacheStrategy
from githubkit.exception import RequestFailed
from githubkit.utils import UNSET


def client(github: Any) -> GitHub[AppAuthStrategy]:
    """githubkit as the App, with a cache of its own."""
    auth = AppAuthStrategy(str(github.app_id), github.key.pem)
    return GitHub(
        auth,
        base_url=f"{github.url}/api/v3",
        http_cache=False,
        auto_retry=False,
        cache_strategy=MemCacheStrategy(),
    )


async def test_whole_way(github: Any, repo: Any, installation: Any) -> None:
    """JWT, token, issue, comment, blob, tree, commit, ref, draft pull request, check run."""
    github.open_issue(repo, "Bug", "it breaks")
    app = client(github)
    there: dict[str, Any] = {"owner": "acme", "repo": "demo"}
    async with app.with_auth(app.auth.as_installation(installation.id)) as gh:
        rest = gh.rest("2022-11-28")
        issue = (await rest.issues.async_get(**there, issue_number=1)).parsed_data
        assert issue.title == "Bug"
        await rest.issues.async_create_comment(**there, issue_number=1, body="On it")
        ref = (await rest.git.async_get_ref(**there, ref="heads/main")).json()
        base = (
            await rest.git.async_get_commit(**there, commit_sha=ref["object"]["sha"])
        ).parsed_data
        blob = await rest.git.async_create_blob(**there, content="x = 1\n", encoding="utf-8")
        entry = {"path": "x.py", "mode": "100644", "type": "blob", "sha": blob.json()["sha"]}
        tree = await rest.git.async_create_tree(**there, base_tree=base.tree.sha, tree=[entry])
        commit = await rest.git.async_create_commit(
            **there, message="Fix", tree=tree.json()["sha"], parents=[base.sha]
        )
        sha = commit.json()["sha"]
        await rest.git.async_create_ref(**there, ref="refs/heads/prism/issue-1", sha=sha)
        body = {"title": "Fix", "head": "prism/issue-1", "base": "main", "draft": True}
        pull = (await rest.pulls.async_create(**there, data=body)).json()
        assert pull["head"]["sha"] == sha
        with pytest.raises(RequestFailed) as refused:
            await rest.pulls.async_create(**there, data=body)
        assert refused.value.response.status_code == 422
        check = {"name": "prism", "head_sha": sha, "status": "completed", "conclusion": "success"}
        assert (await rest.checks.async_create(**there, data=check)).status_code == 201
        with pytest.raises(RequestFailed) as missing:
            await rest.issues.async_get(**there, issue_number=99)
        assert missing.value.response.status_code == 404


async def test_pagination(github: Any, repo: Any, installation: Any) -> None:
    """githubkit's paginator walks every page by the Link header."""
    for number in range(5):
        github.open_issue(repo, f"Bug {number}")
    app = client(github)
    async with app.with_auth(app.auth.as_installation(installation.id)) as gh:
        pages = gh.rest.paginate(
            gh.rest("2022-11-28").issues.async_list_for_repo,
            map_func=lambda response: response.json(),
            owner="acme",
            repo="demo",
            per_page=2,
            milestone=UNSET,
        )
        assert [each["number"] async for each in pages] == [5, 4, 3, 2, 1]
