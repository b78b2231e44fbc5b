"""The one way out: an accepted patch becomes a commit, a branch and a draft pull request.

patch policy ─▶ tree in the mirror ─▶ blobs, tree, commit, ref by the API ─▶ pull request

Nothing is pushed. The API's tree must be the verified one, names are fixed by the run, and
every step looks before it creates, so a restarted worker never makes a second one.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from app.github.errors import (
    GitHubError,
    PatchRefused,
    TreeMismatch,
    Unprocessable,
)
from app.github.mirror import Mirror
from app.github.once import find_or_create, repeated
from app.github.patching import ChangedFile, PatchedTree, apply_patch
from app.github.recorder import Recorder
from app.github.values import Commit, Pull, TreeEntry
from app.messages.facts import PullRequestText
from pipeline.evidence.policy import check_patch

if TYPE_CHECKING:
    from app.github.client import GitHubRepo

SUFFIXES = ("", "-b", "-c", "-d", "-e")
TRAILER = "Prism-Run:"


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote the issue: CI waits for a person unless this one can write."""

    login: str
    user_id: int


@dataclass(frozen=True, slots=True)
class Change:
    """What a run publishes. `subject` is the commit's first line, cleaned and short."""

    run_id: str
    issue_number: int
    branch: str
    base_branch: str
    base_commit: str
    patch: str
    subject: str
    issue_author: Author


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch as it is now. `moved_from` names the branch that a person had changed.

    `ci_held` tells that the commit asks CI to wait; `held` are the policy's reasons for a
    person to look closely.
    """

    name: str
    commit: str
    moved_from: str
    ci_held: bool
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """What a person can look at now."""

    pull: Pull
    branch: Branch


async def publish(
    repo: "GitHubRepo",
    recorder: Recorder,
    mirror: Mirror,
    change: Change,
    compose: Callable[[Branch], PullRequestText],
) -> Published:
    """Publish once, however often this is called for a run.

    `compose` writes the pull request's text when the branch is known. Raises PatchRefused with
    the policy's reasons, PatchDoesNotApply, TreeMismatch, SecretInText, GitHubError, and Fenced.
    """
    verdict = check_patch(change.patch)
    if verdict.refused:
        raise PatchRefused(verdict.refused)
    tree = await apply_patch(mirror, change.base_commit, change.patch)
    ci_held = bool(verdict.held) or not await _can_write(repo, change.issue_author)
    draft = compose(Branch(change.branch, "", "", ci_held, verdict.held))
    repo.check(change.subject, draft.title, draft.body)  # before anything is made
    branch = await _ensure_branch(repo, recorder, change, tree, ci_held, verdict.held)
    pull = await _ensure_pull(repo, recorder, change, branch, compose)
    return Published(pull, branch)


async def _can_write(repo: "GitHubRepo", author: Author) -> bool:
    try:
        permission = await repo.permission(author.login)
    except GitHubError:
        return False  # unknown is no
    return permission is not None and permission.lets_write(author.user_id)


async def _ensure_branch(
    repo: "GitHubRepo",
    recorder: Recorder,
    change: Change,
    tree: PatchedTree,
    ci_held: bool,
    held: tuple[str, ...],
) -> Branch:
    request = {"branch": change.branch, "base_commit": change.base_commit}
    await recorder.intend("branch", request)
    message = _message(change, ci_held)
    commit = ""
    for suffix in SUFFIXES:
        name = change.branch + suffix
        head = await repo.get_ref(f"heads/{name}")
        if head is None:
            commit = commit or await _build_commit(repo, change, tree, message)
            head = await _create_ref(repo, name, commit)
        if head == commit or _is_ours(await repo.get_commit(head), change, tree):
            moved_from = change.branch if suffix else ""
            await recorder.done("branch", f"{name}@{head}", "")
            return Branch(name, head, moved_from, ci_held, held)
    raise Unprocessable(422, f"the branch {change.branch} and its alternatives are taken")


def _message(change: Change, ci_held: bool) -> str:
    skip = "[skip ci]\n\n" if ci_held else ""
    return f"{change.subject}\n\nFixes #{change.issue_number}\n\n{skip}{TRAILER} {change.run_id}\n"


def _is_ours(commit: Commit, change: Change, tree: PatchedTree) -> bool:
    """Whether this run made the commit, and with this tree; a person's commit on top is not."""
    trailer = f"{TRAILER} {change.run_id}"
    return (
        commit.tree == tree.tree
        and commit.parents == (change.base_commit,)
        and trailer in commit.message.splitlines()
    )


async def _build_commit(repo: "GitHubRepo", change: Change, tree: PatchedTree, message: str) -> str:
    entries = tuple([await _entry(repo, file) for file in tree.files])
    made = await repeated(lambda: repo.create_tree(tree.base_tree, entries))
    if made != tree.tree:
        raise TreeMismatch(tree.tree, made)
    commit = await repeated(lambda: repo.create_commit(message, made, change.base_commit))
    if commit.tree != tree.tree or commit.parents != (change.base_commit,):
        raise TreeMismatch(tree.tree, commit.tree)
    return commit.sha


async def _entry(repo: "GitHubRepo", file: ChangedFile) -> TreeEntry:
    if file.content is None:
        return TreeEntry(file.path, "100644", None)
    encoded = base64.b64encode(file.content).decode("ascii")
    sha = await repeated(lambda: repo.create_blob(encoded))
    if sha != file.sha:
        raise TreeMismatch(file.sha, sha)
    return TreeEntry(file.path, file.mode, sha)


async def _create_ref(repo: "GitHubRepo", name: str, commit: str) -> str:
    async def find() -> str | None:
        return await repo.get_ref(f"heads/{name}")

    async def create() -> str:
        await repo.create_ref(f"refs/heads/{name}", commit)
        return commit

    return await find_or_create(find, create)


async def _ensure_pull(
    repo: "GitHubRepo",
    recorder: Recorder,
    change: Change,
    branch: Branch,
    compose: Callable[[Branch], PullRequestText],
) -> Pull:
    await recorder.intend(
        "pull_request", {"issue": change.issue_number, "base": change.base_branch}
    )
    text = compose(branch)

    async def find() -> Pull | None:
        return await repo.find_pull(branch.name)  # closed ones too: nobody's "no" is undone

    async def create() -> Pull:
        open_it = partial(
            repo.create_pull,
            title=text.title,
            head=branch.name,
            base=change.base_branch,
            body=text.body,
        )
        try:
            return await open_it()
        except Unprocessable as error:
            if "draft" not in error.message.lower():
                raise
            return await open_it(draft=False)  # a plan without drafts

    pull = await find_or_create(find, create)
    await recorder.done("pull_request", pull.number, pull.url)
    return pull
