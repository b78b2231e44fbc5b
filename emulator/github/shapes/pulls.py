"""Pull requests as JSON; sizes and commits are read from the bare repository."""

from typing import Any

from emulator.github import git_store
from emulator.github.records import Issue, Pull, Repository
from emulator.github.shapes.accounts import moment, moment_or_none, user
from emulator.github.shapes.issues import association, label
from emulator.github.shapes.repositories import api_url, page_url, repository
from emulator.github.state import State, node_id


def refresh(repo: Repository, pull: Pull) -> None:
    """Read where the two branches stand now; a deleted branch keeps its last commit."""
    pull.head_sha = git_store.branch_sha(repo.path, pull.head_ref) or pull.head_sha
    pull.base_sha = git_store.branch_sha(repo.path, pull.base_ref) or pull.base_sha


def summary(state: State, repo: Repository, what: Issue) -> dict[str, Any]:
    """A pull request as lists show it."""
    assert what.pull is not None
    pull = what.pull
    if what.state == "open":
        refresh(repo, pull)
    url = f"{api_url(state, repo)}/pulls/{what.number}"
    issue_url = f"{api_url(state, repo)}/issues/{what.number}"
    page = f"{page_url(state, repo)}/pull/{what.number}"
    statuses = f"{api_url(state, repo)}/statuses/{pull.head_sha}"
    links = {
        "self": url,
        "html": page,
        "issue": issue_url,
        "comments": f"{issue_url}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{api_url(state, repo)}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": statuses,
    }
    return {
        "id": pull.id,
        "node_id": node_id("PullRequest", pull.id),
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_url,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": statuses,
        "_links": {name: {"href": each} for name, each in links.items()},
        "number": what.number,
        "state": what.state,
        "locked": what.locked,
        "active_lock_reason": what.lock_reason,
        "title": what.title,
        "body": what.body,
        "user": user(state, what.user),
        "author_association": association(repo, what.user),
        "labels": [
            label(state, repo, each) | {"description": each.description or ""}
            for each in what.labels
        ],
        "milestone": None,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "auto_merge": None,
        "draft": pull.draft,
        "head": _end(state, repo, pull.head_ref, pull.head_sha),
        "base": _end(state, repo, pull.base_ref, pull.base_sha),
        "created_at": moment(what.created_at),
        "updated_at": moment(what.updated_at),
        "closed_at": moment_or_none(what.closed_at),
        "merged_at": moment_or_none(pull.merged.at if pull.merged else None),
        "merge_commit_sha": pull.merged.sha if pull.merged else None,
    }


def _end(state: State, repo: Repository, ref: str, sha: str) -> dict[str, Any]:
    return {
        "label": f"{repo.owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(state, repo.owner),
        "repo": repository(state, repo),
    }


def full(state: State, repo: Repository, what: Issue) -> dict[str, Any]:
    """What `GET /pulls/{number}` shows: the summary with sizes."""
    shown = summary(state, repo, what)
    assert what.pull is not None
    merged = what.pull.merged
    files = changed_files(repo, what.pull)
    return shown | {
        "merged": merged is not None,
        "mergeable": True,
        "rebaseable": True,
        "mergeable_state": "draft" if what.pull.draft else "clean",
        "merged_by": user(state, merged.by) if merged else None,
        "comments": len(what.comments),
        "review_comments": 0,
        "maintainer_can_modify": what.pull.maintainer_can_modify,
        "commits": len(commits(repo, what.pull)),
        "additions": sum(each[1] for each in files),
        "deletions": sum(each[2] for each in files),
        "changed_files": len(files),
    }


def commits(repo: Repository, pull: Pull) -> list[str]:
    """The pull request's commits, oldest first."""
    return git_store.history(repo.path, f"{pull.base_sha}..{pull.head_sha}")[::-1]


def diff(repo: Repository, pull: Pull) -> str:
    """What the pull request changes, as GitHub shows it: against the merge base."""
    revisions = f"{pull.base_sha}...{pull.head_sha}"
    return git_store.git(repo.path, "diff", "--no-ext-diff", revisions).decode(errors="replace")


def changed_files(repo: Repository, pull: Pull) -> list[tuple[str, int, int]]:
    """Path, added and deleted lines of every changed file (0 and 0 for a binary one)."""
    revisions = f"{pull.base_sha}...{pull.head_sha}"
    out = git_store.git(repo.path, "diff", "--numstat", "--no-renames", "-z", revisions)
    rows = (record.split("\t", 2) for record in out.decode(errors="replace").split("\0")[:-1])
    return [(path, _count(added), _count(deleted)) for added, deleted, path in rows]


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else 0
