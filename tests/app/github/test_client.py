"""The REST client against an emulated GitHub that checks every request by GitHub's description."""

import asyncio
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from app.github.client import GitHubApp
from app.github.errors import (
    Forbidden,
    GitHubUnavailable,
    NotFound,
    RateLimited,
    Unauthorized,
    Unprocessable,
)
from app.github.values import PERMISSIONS

ROOT = Path(__file__).parents[3]

# What GitHub's reference asks for, by operation; App endpoints need the App's own key.
NEEDED = {
    "apps.async_get_authenticated": None,
    "apps.async_create_installation_access_token": None,
    "repos.async_get": ("metadata", "read"),
    "repos.async_get_collaborator_permission_level": ("metadata", "read"),
    "issues.async_list_comments": ("issues", "read"),
    "issues.async_create_comment": ("issues", "write"),
    "issues.async_update_comment": ("issues", "write"),
    "reactions.async_create_for_issue": ("issues", "write"),
    "reactions.async_create_for_issue_comment": ("issues", "write"),
    "pulls.async_list": ("pull_requests", "read"),
    "pulls.async_get": ("pull_requests", "read"),
    "pulls.async_create": ("pull_requests", "write"),
    "git.async_get_ref": ("contents", "read"),
    "git.async_create_ref": ("contents", "write"),
    "git.async_get_commit": ("contents", "read"),
    "git.async_create_blob": ("contents", "write"),
    "git.async_create_tree": ("contents", "write"),
    "git.async_create_commit": ("contents", "write"),
}
LEVELS = ["read", "write"]


def test_the_manifest_covers_every_call_and_asks_for_no_more():
    """Permissions of app.yml are exactly what the client's operations need."""
    source = (ROOT / "app/github/client.py").read_text(encoding="utf-8")
    used = set(re.findall(r"\.(\w+\.async_\w+)\(", source))
    assert used == set(NEEDED)
    needed: dict[str, str] = {}
    for name, level in filter(None, NEEDED.values()):
        needed[name] = max(needed.get(name, "read"), level, key=LEVELS.index)
    manifest = yaml.safe_load((ROOT / "app.yml").read_text(encoding="utf-8"))
    assert manifest["default_permissions"] == needed
    assert PERMISSIONS["publish"] == needed


async def test_one_token_serves_many_callers(site):
    """Twenty callers at once cause one token request, for one repository and purpose."""
    async with site.open("read") as repo:
        infos = await asyncio.gather(*(repo.info() for _ in range(20)))
    assert {info.full_name for info in infos} == {"acme/widgets"}
    assert len(site.requests("POST", "access_tokens")) == 1


async def test_a_token_can_do_its_purpose_only(site):
    """The token of a checkout cannot comment, the token of a conversation cannot write git."""
    site.hub.open_issue(site.repo, "t")
    async with site.open("read") as repo:
        with pytest.raises(Forbidden):
            await repo.create_comment(1, "x")
    async with site.open("talk") as repo:
        with pytest.raises(Forbidden):
            await repo.create_ref("refs/heads/x", site.base)


async def test_a_token_is_for_one_repository(site):
    """Another repository of the same installation is not visible to it."""
    other = site.hub.add_repository("secret", private=True)
    async with site.app.repository(
        site.installation.id, site.repo.id, other.full_name, "read"
    ) as repo:
        with pytest.raises((NotFound, Forbidden)):
            await repo.info()


async def test_an_expired_token_is_replaced(site):
    """A client that outlives its token goes on with a new one, without repeating the call."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open() as repo:
        await repo.info()
        for token in site.hub.tokens.values():
            if token.expires_at is not None:
                token.expires_at = site.hub.started_at
        await repo.create_comment(issue.number, "still here")
    assert [comment.body for comment in issue.comments] == ["still here"]
    assert len(site.requests("POST", "access_tokens")) == 2


async def test_reads_survive_server_errors(site):
    """A GET is repeated after 502."""
    site.hub.faults.add("GET", "/repos/acme/widgets$", 502, times=2)
    async with site.open("read") as repo:
        assert (await repo.info()).default_branch == "trunk"


async def test_a_post_is_never_repeated_blindly(site):
    """A comment whose answer is lost is made once, and the caller is told."""
    issue = site.hub.open_issue(site.repo, "t")
    site.hub.faults.add("POST", "/comments$", "after_commit_502")
    async with site.open() as repo:
        with pytest.raises(GitHubUnavailable):
            await repo.create_comment(issue.number, "once")
    assert len(issue.comments) == 1


async def test_a_short_rate_limit_is_waited_for(site):
    """A secondary limit of a second delays the call; a long one is raised with its time."""
    issue = site.hub.open_issue(site.repo, "t")
    limited = {"message": "You have exceeded a secondary rate limit"}
    site.hub.faults.add("POST", "/comments$", 403, headers={"retry-after": "1"}, **limited)
    async with site.open() as repo:
        started = time.monotonic()
        await repo.create_comment(issue.number, "later")
        assert time.monotonic() - started >= 1
        site.hub.faults.add("POST", "/comments$", 403, headers={"retry-after": "900"}, **limited)
        with pytest.raises(RateLimited) as caught:
            await repo.create_comment(issue.number, "much later")
    assert caught.value.retry_after_s == 900
    assert len(issue.comments) == 1


async def test_nobody_there_is_unavailable(site):
    """A host that does not answer is GitHubUnavailable, soon."""
    app = GitHubApp(replace(site.settings, ghe_host="127.0.0.1:9"))
    with pytest.raises(GitHubUnavailable):
        await app.identity()


async def test_a_wrong_key_is_unauthorized(site):
    """An App id that does not belong to the key is told apart from an outage."""
    app = GitHubApp(replace(site.settings, app_id="999999"))
    with pytest.raises((Unauthorized, NotFound)):
        await app.identity()


@pytest.mark.parametrize(
    ("role", "expected"),
    [("admin", True), ("maintain", True), ("write", True), ("triage", False), ("read", False)],
)
async def test_permission_counts_roles(site, role, expected):
    """Write and more may start a run; triage, which GitHub's old field hides, may not."""
    user = site.hub.add_user("someone", role)
    async with site.open("talk") as repo:
        permission = await repo.permission("someone")
    assert permission is not None
    assert (permission.user_id, permission.can_write) == (user.id, expected)


async def test_permission_of_nobody_is_none(site):
    """An account that does not exist has no permission, and Apps have none either."""
    async with site.open("talk") as repo:
        assert await repo.permission("nobody") is None
        assert await repo.permission(repo.identity.login) is None


async def test_comments_are_read_to_the_last_page(site):
    """All of 205 comments are found, and only ours count as ours."""
    issue = site.hub.open_issue(site.repo, "t")
    for number in range(204):
        site.hub.comment(site.repo, issue.number, f"<!-- m --> {number}")
    async with site.open("talk") as repo:
        made = await repo.create_comment(issue.number, "<!-- m -->")
        comments = await repo.comments(issue.number)
    assert len(comments) == 205
    assert [comment.id for comment in comments if comment.ours] == [made.id]


async def test_refs_are_exact(site):
    """A missing ref is None, also when another begins with its name; a second one is refused."""
    async with site.open() as repo:
        assert await repo.get_ref("heads/trunk") == site.base
        for name in ("x/y", "is#1%41"):
            await repo.create_ref(f"refs/heads/{name}", site.base)
            assert await repo.get_ref(f"heads/{name}") == site.base
        assert await repo.get_ref("heads/x") is None
        with pytest.raises(Unprocessable):
            await repo.create_ref("refs/heads/x/y", site.base)


async def test_a_renamed_repository_is_followed(site):
    """The old name still works and tells the new one."""
    async with site.open("read") as repo:
        site.hub.rename(site.repo, "gadgets")
        assert (await repo.info()).full_name == "acme/gadgets"


async def test_an_empty_repository_has_no_ref(site):
    """GitHub answers 409 for git data of an empty repository; that is no ref."""
    empty = site.hub.add_repository("empty")
    async with site.app.repository(site.installation.id, empty.id, empty.full_name, "talk") as repo:
        assert await repo.get_ref("heads/main") is None


async def test_settings_never_show_the_token(site):
    """Neither remote nor token print their secret."""
    remote = await site.remote()
    assert remote.token not in repr(remote)
