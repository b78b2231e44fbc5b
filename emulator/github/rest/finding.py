"""Find what a path names; 404 when it is not there."""

from emulator.github.api import Call
from emulator.github.errors import not_accessible, not_found
from emulator.github.records import Comment, Issue


def issue(call: Call, *, level: str = "read") -> Issue:
    """The issue or pull request in the path, with the permission its kind asks for."""
    found = call.repo.issues.get(call.path["issue_number"])
    if found is None:
        raise not_found()
    _require(call, found, level)
    return found


def pull(call: Call) -> Issue:
    """The pull request in the path."""
    found = call.repo.issues.get(call.path["pull_number"])
    if found is None or found.pull is None:
        raise not_found()
    return found


def comment(call: Call, *, level: str = "read") -> tuple[Issue, Comment]:
    """The comment in the path and what it stands below."""
    for each in call.repo.issues.values():
        for made in each.comments:
            if made.id == call.path["comment_id"]:
                _require(call, each, level)
                return each, made
    raise not_found()


def _require(call: Call, found: Issue, level: str) -> None:
    # "pull_requests" alone is enough for a pull request, not for an issue.
    public_read = level == "read" and not call.repo.private
    if call.caller.kind != "installation" or public_read:
        return
    names = ("issues", "pull_requests") if found.pull is not None else ("issues",)
    if not any(call.caller.holds(each, level) for each in names):
        raise not_accessible()
