"""Issues, comments, labels and reactions as JSON."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from emulator.github.records import Comment, Issue, Label, Reaction, Repository, User
from emulator.github.shapes.accounts import app, moment, moment_or_none, user
from emulator.github.shapes.repositories import api_url, page_url
from emulator.github.state import State, node_id

CONTENTS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label(state: State, repo: Repository, what: Label) -> dict[str, Any]:
    """A label."""
    return {
        "id": what.id,
        "node_id": node_id("Label", what.id),
        "url": f"{api_url(state, repo)}/labels/{what.name.replace(' ', '%20')}",
        "name": what.name,
        "color": what.color,
        "default": False,
        "description": what.description,
    }


def reaction(state: State, what: Reaction) -> dict[str, Any]:
    """A reaction."""
    return {
        "id": what.id,
        "node_id": node_id("Reaction", what.id),
        "user": user(state, what.user),
        "content": what.content,
        "created_at": moment(what.created_at),
    }


def _rollup(url: str, reactions: Iterable[Reaction]) -> dict[str, Any]:
    counted = Counter(each.content for each in reactions)
    return {
        "url": f"{url}/reactions",
        "total_count": counted.total(),
        **{content: counted[content] for content in CONTENTS},
    }


def association(repo: Repository, who: User) -> str:
    """GitHub's guess what somebody is to the repository; not a permission."""
    role = repo.roles.get(who.login.lower(), "none")
    if who.type == "Bot" or role == "none":
        return "NONE"
    return "MEMBER" if role in ("admin", "maintain") else "COLLABORATOR"


def issue(state: State, repo: Repository, what: Issue) -> dict[str, Any]:
    """An issue, or a pull request seen as one."""
    url = f"{api_url(state, repo)}/issues/{what.number}"
    part = "issues" if what.pull is None else "pull"
    shown = {
        "id": what.id,
        "node_id": node_id("Issue", what.id),
        "url": url,
        "repository_url": api_url(state, repo),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{page_url(state, repo)}/{part}/{what.number}",
        "number": what.number,
        "title": what.title,
        "body": what.body,
        "user": user(state, what.user),
        "author_association": association(repo, what.user),
        "labels": [label(state, repo, each) for each in what.labels],
        "state": what.state,
        "state_reason": what.state_reason,
        "locked": what.locked,
        "active_lock_reason": what.lock_reason,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": len(what.comments),
        "created_at": moment(what.created_at),
        "updated_at": moment(what.updated_at),
        "closed_at": moment_or_none(what.closed_at),
        "closed_by": None if what.closed_by is None else user(state, what.closed_by),
        "performed_via_github_app": app(state) if what.via_app else None,
        "reactions": _rollup(url, what.reactions),
    }
    return shown if what.pull is None else shown | _as_pull(state, repo, what)


def _as_pull(state: State, repo: Repository, what: Issue) -> dict[str, Any]:
    assert what.pull is not None
    page = f"{page_url(state, repo)}/pull/{what.number}"
    return {
        "draft": what.pull.draft,
        "pull_request": {
            "url": f"{api_url(state, repo)}/pulls/{what.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": moment_or_none(what.pull.merged.at if what.pull.merged else None),
        },
    }


def comment(state: State, repo: Repository, on: Issue, what: Comment) -> dict[str, Any]:
    """A comment below an issue or pull request."""
    url = f"{api_url(state, repo)}/issues/comments/{what.id}"
    part = "issues" if on.pull is None else "pull"
    page = f"{page_url(state, repo)}/{part}/{on.number}"
    return {
        "id": what.id,
        "node_id": node_id("IssueComment", what.id),
        "url": url,
        "html_url": f"{page}#issuecomment-{what.id}",
        "issue_url": f"{api_url(state, repo)}/issues/{on.number}",
        "user": user(state, what.user),
        "author_association": association(repo, what.user),
        "body": what.body,
        "created_at": moment(what.created_at),
        "updated_at": moment(what.updated_at),
        "performed_via_github_app": app(state) if what.via_app else None,
        "reactions": _rollup(url, what.reactions),
    }
