"""Comments below issues and pull requests."""

from typing import Any

from emulator.github.acts import issues as acts
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.auth import has_role
from emulator.github.errors import Refused
from emulator.github.records import Comment, Issue
from emulator.github.rest import finding
from emulator.github.shapes import issues as shapes
from emulator.github.shapes.accounts import moment


def _shown(call: Call, issue: Issue, comment: Comment) -> dict[str, Any]:
    return shapes.comment(call.state, call.repo, issue, comment)


def list_comments(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues/{issue_number}/comments: oldest first."""
    issue = finding.issue(call)
    since = str(call.query.get("since", ""))
    found = [each for each in issue.comments if moment(each.updated_at) >= since]
    return Answer(page_of=found, show=lambda each: _shown(call, issue, each))


def create_comment(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/issues/{issue_number}/comments"""
    issue = finding.issue(call, level="write")
    if issue.locked and not _may_write(call):
        raise Refused(403, "Unable to create comment because issue is locked.")
    body = str(call.body["body"])
    made = acts.comment(call.state, call.repo, issue, body, call.actor, via_app=call.via_app)
    return Answer(201, _shown(call, issue, made))


def _may_write(call: Call) -> bool:
    # An App is not a collaborator: a locked conversation is closed to it.
    token = call.caller.token
    return (
        token is not None
        and token.user is not None
        and has_role(call.state, token, call.repo, "write")
    )


def get_comment(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues/comments/{comment_id}"""
    return Answer(body=_shown(call, *finding.comment(call)))


def update_comment(call: Call) -> Answer:
    """PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}"""
    issue, comment = finding.comment(call, level="write")
    _own(call, comment)
    acts.edit_comment(call.state, call.repo, issue, comment, str(call.body["body"]), call.actor)
    return Answer(body=_shown(call, issue, comment))


def delete_comment(call: Call) -> Answer:
    """DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}"""
    issue, comment = finding.comment(call, level="write")
    _own(call, comment)
    acts.delete_comment(call.state, call.repo, issue, comment, call.actor)
    return Answer(204)


def _own(call: Call, comment: Comment) -> None:
    # An App with the permission may edit any comment; so may whoever can write.
    if comment.user is not call.actor and not call.via_app and not _may_write(call):
        raise Refused(403, "Must have admin rights to Repository.")


def list_reactions(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"""
    _, comment = finding.comment(call)
    wanted = call.query.get("content")
    found = [each for each in comment.reactions if wanted in (None, each.content)]
    return Answer(page_of=found, show=lambda each: shapes.reaction(call.state, each))


def add_reaction(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"""
    _, comment = finding.comment(call, level="write")
    made, new = acts.react(call.state, comment.reactions, call.body["content"], call.actor)
    return Answer(201 if new else 200, shapes.reaction(call.state, made))


_REPO = "/repos/{owner}/{repo}"
_COMMENT = _REPO + "/issues/comments/{comment_id}"
_LIST = _REPO + "/issues/{issue_number}/comments"
_EITHER = ("issues", "pull_requests")


def _write(operation: str, run: Any) -> Endpoint:
    return Endpoint(operation, run, permissions=_EITHER, level="write", role="read")


ENDPOINTS = (
    Endpoint(f"GET {_LIST}", list_comments, permissions=_EITHER),
    _write(f"POST {_LIST}", create_comment),
    Endpoint(f"GET {_COMMENT}", get_comment, permissions=_EITHER),
    _write(f"PATCH {_COMMENT}", update_comment),
    _write(f"DELETE {_COMMENT}", delete_comment),
    Endpoint(f"GET {_COMMENT}/reactions", list_reactions, permissions=_EITHER),
    _write(f"POST {_COMMENT}/reactions", add_reaction),
)
