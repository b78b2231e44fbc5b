"""Issues, their comments, labels, reactions and locks."""

from typing import Any

from emulator.github.acts import issues as acts
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.auth import has_role
from emulator.github.errors import Refused, invalid, not_found
from emulator.github.records import Issue, Label
from emulator.github.rest import finding
from emulator.github.shapes import issues as shapes
from emulator.github.shapes.accounts import moment


def list_issues(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues: pull requests are issues too, newest first."""
    wanted = call.query.get("state", "open")
    labels = {each.lower() for each in str(call.query.get("labels", "")).split(",") if each}
    since = str(call.query.get("since", ""))
    found = [
        each
        for each in call.repo.issues.values()
        if wanted in ("all", each.state)
        and labels <= {label.name.lower() for label in each.labels}
        and moment(each.updated_at) >= since
    ]
    found.sort(key=lambda each: each.number, reverse=call.query.get("direction") != "asc")
    return Answer(page_of=found, show=lambda each: _shown(call, each))


def _shown(call: Call, issue: Issue) -> dict[str, Any]:
    return shapes.issue(call.state, call.repo, issue)


def get_issue(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues/{issue_number}"""
    return Answer(body=_shown(call, finding.issue(call)))


def create_issue(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/issues: labels of somebody without triage are dropped."""
    labels = _names(call.body.get("labels", ())) if _triages(call) else []
    made = acts.open_issue(
        call.state,
        call.repo,
        str(call.body["title"]),
        call.body.get("body"),
        call.actor,
        labels=labels,
        via_app=call.via_app,
    )
    return Answer(201, _shown(call, made))


def _triages(call: Call) -> bool:
    token = call.caller.token
    return call.via_app or (token is not None and has_role(call.state, token, call.repo, "triage"))


def _names(labels: Any) -> list[str]:
    return [each if isinstance(each, str) else str(each["name"]) for each in labels]


def update_issue(call: Call) -> Answer:
    """PATCH /repos/{owner}/{repo}/issues/{issue_number}"""
    issue = finding.issue(call, level="write")
    if not _triages(call) and issue.user is not call.actor:
        raise Refused(403, "Must have admin rights to Repository.")
    where = (call.state, call.repo, issue)
    title, body = call.body.get("title"), call.body.get("body")
    if "body" in call.body and body is None:
        body = ""
    acts.edit_text(*where, call.actor, title=title, body=body)
    if call.body.get("state") == "closed":
        acts.close(*where, call.actor, call.body.get("state_reason") or "completed")
    if call.body.get("state") == "open":
        acts.reopen(*where, call.actor)
    if "labels" in call.body and _triages(call):
        _set_labels(call, issue, _names(call.body["labels"]))
    return Answer(body=_shown(call, issue))


def _set_labels(call: Call, issue: Issue, names: list[str]) -> None:
    keep = {each.lower() for each in names}
    for label in list(issue.labels):
        if label.name.lower() not in keep:
            acts.remove_label(call.state, call.repo, issue, label.name, call.actor)
    acts.add_labels(call.state, call.repo, issue, names, call.actor)


def list_labels(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/issues/{issue_number}/labels"""
    return Answer(page_of=finding.issue(call).labels, show=lambda each: _label(call, each))


def _label(call: Call, label: Label) -> dict[str, Any]:
    return shapes.label(call.state, call.repo, label)


def add_labels(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/issues/{issue_number}/labels"""
    issue = finding.issue(call, level="write")
    acts.add_labels(call.state, call.repo, issue, _names(call.body.get("labels", ())), call.actor)
    return Answer(body=[_label(call, each) for each in issue.labels])


def remove_label(call: Call) -> Answer:
    """DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}"""
    issue = finding.issue(call, level="write")
    acts.remove_label(call.state, call.repo, issue, call.path["name"], call.actor)
    return Answer(body=[_label(call, each) for each in issue.labels])


def list_repository_labels(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/labels"""
    return Answer(page_of=list(call.repo.labels.values()), show=lambda each: _label(call, each))


def create_repository_label(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/labels"""
    name = str(call.body["name"])
    if name.lower() in call.repo.labels:
        raise invalid("Label", "name", "already_exists")
    label = acts.repository_label(call.state, call.repo, name)
    label.color = str(call.body.get("color", label.color))
    label.description = call.body.get("description")
    return Answer(201, _label(call, label))


def get_repository_label(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/labels/{name}"""
    found = call.repo.labels.get(str(call.path["name"]).lower())
    if found is None:
        raise not_found()
    return Answer(body=_label(call, found))


def add_reaction(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/issues/{issue_number}/reactions"""
    issue = finding.issue(call, level="write")
    made, new = acts.react(call.state, issue.reactions, call.body["content"], call.actor)
    return Answer(201 if new else 200, shapes.reaction(call.state, made))


def lock(call: Call) -> Answer:
    """PUT /repos/{owner}/{repo}/issues/{issue_number}/lock"""
    issue = finding.issue(call, level="write")
    issue.locked, issue.lock_reason = True, call.body.get("lock_reason")
    return Answer(204)


def unlock(call: Call) -> Answer:
    """DELETE /repos/{owner}/{repo}/issues/{issue_number}/lock"""
    issue = finding.issue(call, level="write")
    issue.locked, issue.lock_reason = False, None
    return Answer(204)


_REPO = "/repos/{owner}/{repo}"
_ISSUE = _REPO + "/issues/{issue_number}"
_EITHER = ("issues", "pull_requests")
ENDPOINTS = (
    Endpoint(f"GET {_REPO}/issues", list_issues, permissions=_EITHER),
    Endpoint(
        f"POST {_REPO}/issues",
        create_issue,
        permissions=("issues",),
        level="write",
        role="read",
    ),
    Endpoint(f"GET {_ISSUE}", get_issue, permissions=_EITHER),
    Endpoint(f"PATCH {_ISSUE}", update_issue, permissions=_EITHER, level="write", role="read"),
    Endpoint(f"GET {_ISSUE}/labels", list_labels, permissions=_EITHER),
    Endpoint(
        f"POST {_ISSUE}/labels", add_labels, permissions=_EITHER, level="write", role="triage"
    ),
    Endpoint(
        f"DELETE {_ISSUE}/labels/{{name}}",
        remove_label,
        permissions=_EITHER,
        level="write",
        role="triage",
    ),
    Endpoint(
        f"POST {_ISSUE}/reactions",
        add_reaction,
        permissions=_EITHER,
        level="write",
        role="read",
    ),
    Endpoint(f"PUT {_ISSUE}/lock", lock, permissions=_EITHER, level="write"),
    Endpoint(f"DELETE {_ISSUE}/lock", unlock, permissions=_EITHER, level="write"),
    Endpoint(f"GET {_REPO}/labels", list_repository_labels, permissions=_EITHER),
    Endpoint(f"POST {_REPO}/labels", create_repository_label, permissions=_EITHER, level="write"),
    Endpoint(f"GET {_REPO}/labels/{{name}}", get_repository_label, permissions=_EITHER),
)
