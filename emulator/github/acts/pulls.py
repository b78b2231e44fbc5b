"""Pull requests between branches of one repository: open and change."""

from dataclasses import dataclass

from emulator.github import events, git_store
from emulator.github.acts.issues import check_title, touch
from emulator.github.errors import Refused, invalid
from emulator.github.records import Issue, Pull, Repository, User
from emulator.github.state import State, next_number

# Unlike issues: code points, and really enforced.
BODY_CHARACTERS = 65_536


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody asks to be merged; "owner:" before `head` is allowed."""

    title: str
    body: str | None
    head: str
    base: str
    draft: bool = False
    maintainer_can_modify: bool = True


def open_pull(
    state: State, repo: Repository, what: Proposal, user: User, *, via_app: bool = False
) -> Issue:
    """Open a pull request between two branches of the repository.

    Refused 422 when a branch is missing, nothing lies between them, or one is open already.
    """
    check_title(what.title)
    check_body(what.body)
    owner, _, head = what.head.rpartition(":")
    if owner and owner.lower() != repo.owner.login.lower():
        raise invalid("PullRequest", "head")
    head_sha, base_sha = _branch(repo, head, "head"), _branch(repo, what.base, "base")
    _check_new(state, repo, head, what.base)
    _check_between(repo, (what.base, base_sha), (head, head_sha))
    pull = Pull(state.new_id(), head, what.base, head_sha, base_sha, what.draft)
    pull.maintainer_can_modify = what.maintainer_can_modify
    now, number = state.now(), next_number(repo)
    issue = Issue(state.new_id(), number, what.title, what.body, user, now, now, via_app, pull=pull)
    repo.issues[number] = issue
    events.issue_changed(state, repo, issue, "opened", user)
    return issue


def check_body(body: str | None) -> None:
    """Refused 422 for more than 65,536 characters."""
    if len(body or "") > BODY_CHARACTERS:
        message = "body is too long (maximum is 65536 characters)"
        raise invalid("Issue", "body", "custom", message)


def _branch(repo: Repository, name: str, field: str) -> str:
    sha = git_store.branch_sha(repo.path, name)
    if sha is None:
        raise invalid("PullRequest", field)
    return sha


def _check_between(repo: Repository, base: tuple[str, str], head: tuple[str, str]) -> None:
    if git_store.merge_base(repo.path, base[1], head[1]) is None:
        raise _custom(f"The {head[0]} branch has no history in common with {base[0]}")
    if not git_store.history(repo.path, f"{base[1]}..{head[1]}", 1):
        raise _custom(f"No commits between {base[0]} and {head[0]}")


def _custom(message: str) -> Refused:
    entry = {"resource": "PullRequest", "code": "custom", "message": message}
    return Refused(422, "Validation Failed", (entry,))


def _check_new(state: State, repo: Repository, head: str, base: str) -> None:
    for each in state.pulls(repo):
        assert each.pull is not None
        if each.state == "open" and (each.pull.head_ref, each.pull.base_ref) == (head, base):
            raise _custom(f"A pull request already exists for {repo.owner.login}:{head}.")


def change_base(state: State, repo: Repository, issue: Issue, base: str, sender: User) -> None:
    """Aim the pull request at another branch and send `edited`."""
    assert issue.pull is not None
    if base == issue.pull.base_ref:
        return
    sha = _branch(repo, base, "base")
    _check_new(state, repo, issue.pull.head_ref, base)
    _check_between(repo, (base, sha), (issue.pull.head_ref, issue.pull.head_sha))
    changes = {"base": {"ref": {"from": issue.pull.base_ref}, "sha": {"from": issue.pull.base_sha}}}
    issue.pull.base_ref, issue.pull.base_sha = base, sha
    touch(state, issue)
    events.issue_changed(state, repo, issue, "edited", sender, changes=changes)


def open_heads(state: State, repo: Repository) -> dict[str, str]:
    """Where the branches of the open pull requests stand now."""
    branches = {
        each.pull.head_ref
        for each in state.pulls(repo)
        if each.pull is not None and each.state == "open"
    }
    found = {each: git_store.branch_sha(repo.path, each) for each in sorted(branches)}
    return {branch: sha for branch, sha in found.items() if sha is not None}


def heads_moved(state: State, repo: Repository, before: dict[str, str], sender: User) -> None:
    """Send `synchronize` for the open pull requests whose branch moved since `before`."""
    now = open_heads(state, repo)
    moved = {branch for branch, sha in now.items() if before.get(branch, sha) != sha}
    for each in list(state.pulls(repo)):
        if each.state == "open" and each.pull is not None and each.pull.head_ref in moved:
            branch = each.pull.head_ref
            shas = {"before": before[branch], "after": now[branch]}
            touch(state, each)
            events.issue_changed(state, repo, each, "synchronize", sender, **shas)
