"""Pull requests reach their end: ready for review, merged."""

from typing import Literal

from emulator.github import events, git_store
from emulator.github.acts.issues import touch
from emulator.github.errors import Refused
from emulator.github.git_store import GitFailed, Signature
from emulator.github.records import Issue, Merge, Pull, Repository, User
from emulator.github.shapes.git import email_of
from emulator.github.shapes.pulls import refresh
from emulator.github.state import State

Method = Literal["merge", "squash"]


def make_ready(state: State, repo: Repository, issue: Issue, sender: User) -> None:
    """A draft no longer (GitHub offers this on its page and by GraphQL alone)."""
    assert issue.pull is not None
    if issue.pull.draft:
        issue.pull.draft = False
        touch(state, issue)
        events.issue_changed(state, repo, issue, "ready_for_review", sender)


def merge(
    state: State,
    repo: Repository,
    issue: Issue,
    sender: User,
    *,
    method: Method = "merge",
    message: str = "",
    expected: str = "",
) -> str:
    """Merge into the base branch, send `closed` and return the new commit.

    Refused 405 for what is closed, a draft or in conflict, 409 when the head is not `expected`.
    """
    pull = issue.pull
    assert pull is not None
    if issue.state == "closed":
        raise Refused(405, "Pull Request is not mergeable")
    if pull.draft:
        raise Refused(405, "Pull Request is still a draft")
    refresh(repo, pull)
    if expected and expected != pull.head_sha:
        raise Refused(409, "Head branch was modified. Review and try the merge again.")
    message = message or f"Merge pull request #{issue.number}: {issue.title}"
    sha = _commit(state, repo, pull, sender, method, message)
    git_store.update_reference(repo.path, f"refs/heads/{pull.base_ref}", sha, pull.base_sha)
    now = state.now()
    pull.merged = Merge(sha, now, sender)
    issue.state, issue.closed_at, issue.closed_by = "closed", now, sender
    touch(state, issue)
    events.issue_changed(state, repo, issue, "closed", sender)
    return sha


def _commit(
    state: State, repo: Repository, pull: Pull, sender: User, method: Method, message: str
) -> str:
    try:
        tree = git_store.merged_tree(repo.path, pull.base_sha, pull.head_sha)
    except GitFailed:
        raise Refused(405, "Pull Request is not mergeable") from None
    now = f"{int(state.now().timestamp())} +0000"
    who = Signature(sender.name or sender.login, email_of(state, sender), now)
    parents = (pull.base_sha, pull.head_sha) if method == "merge" else (pull.base_sha,)
    return git_store.write_commit(repo.path, tree, parents, f"{message}\n", who, who)
