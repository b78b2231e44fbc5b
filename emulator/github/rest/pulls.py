"""Pull requests."""

from typing import Any

from emulator.github import git_store
from emulator.github.acts import issues as issue_acts
from emulator.github.acts import merging
from emulator.github.acts import pulls as acts
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, invalid
from emulator.github.records import Issue
from emulator.github.rest import finding
from emulator.github.rest.commits import diff_entries
from emulator.github.shapes import pulls as shapes
from emulator.github.shapes.git import commit_item


def list_pulls(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/pulls: newest first; `head` is "owner:branch"."""
    query = call.query
    found = [
        each
        for each in call.state.pulls(call.repo)
        if query.get("state", "open") in ("all", each.state) and _matches(call, each)
    ]
    found.sort(key=lambda each: each.number, reverse=query.get("direction") != "asc")
    return Answer(page_of=found, show=lambda each: shapes.summary(call.state, call.repo, each))


def _matches(call: Call, issue: Issue) -> bool:
    assert issue.pull is not None
    head, base = call.query.get("head"), call.query.get("base")
    if base is not None and issue.pull.base_ref != base:
        return False
    if head is None or ":" not in head:
        # GitHub ignores a head without its owner.
        return True
    owner, _, branch = head.partition(":")
    ours = owner.lower() == call.repo.owner.login.lower()
    return ours and issue.pull.head_ref == str(branch)


def create_pull(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/pulls"""
    body = call.body
    if "title" not in body:
        raise Refused(422, 'Invalid request.\n\n"title" wasn\'t supplied.')
    proposal = acts.Proposal(
        str(body["title"]),
        body.get("body"),
        str(body["head"]),
        str(body["base"]),
        bool(body.get("draft", False)),
        bool(body.get("maintainer_can_modify", True)),
    )
    made = acts.open_pull(call.state, call.repo, proposal, call.actor, via_app=call.via_app)
    return Answer(201, _full(call, made))


def _full(call: Call, issue: Issue) -> dict[str, Any]:
    return shapes.full(call.state, call.repo, issue)


def get_pull(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/pulls/{pull_number}"""
    return Answer(body=_full(call, finding.pull(call)))


def update_pull(call: Call) -> Answer:
    """PATCH /repos/{owner}/{repo}/pulls/{pull_number}"""
    issue = finding.pull(call)
    assert issue.pull is not None
    where = (call.state, call.repo, issue)
    acts.check_body(call.body.get("body"))
    if "base" in call.body:
        acts.change_base(*where, str(call.body["base"]), call.actor)
    issue_acts.edit_text(
        *where, call.actor, title=call.body.get("title"), body=call.body.get("body")
    )
    if call.body.get("state") == "closed":
        issue_acts.close(*where, call.actor)
    if call.body.get("state") == "open":
        if issue.pull.merged:
            raise invalid("PullRequest", "state", "custom", "state cannot be changed: merged")
        issue_acts.reopen(*where, call.actor)
    if "maintainer_can_modify" in call.body:
        issue.pull.maintainer_can_modify = bool(call.body["maintainer_can_modify"])
    return Answer(body=_full(call, issue))


def merge_pull(call: Call) -> Answer:
    """PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge: as a merge commit or squashed."""
    body, method = call.body, call.body.get("merge_method", "merge")
    if method == "rebase":
        raise Refused(405, "Rebase merges are not allowed on this repository.")
    parts = (str(body.get(name) or "") for name in ("commit_title", "commit_message"))
    sha = merging.merge(
        call.state,
        call.repo,
        finding.pull(call),
        call.actor,
        method=method,
        message="\n\n".join(filter(None, parts)),
        expected=str(body.get("sha") or ""),
    )
    shown = {"sha": sha, "merged": True, "message": "Pull Request successfully merged"}
    return Answer(body=shown)


def list_commits(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/pulls/{pull_number}/commits: oldest first."""
    issue = finding.pull(call)
    assert issue.pull is not None
    shapes.refresh(call.repo, issue.pull)
    return Answer(
        page_of=shapes.commits(call.repo, issue.pull),
        show=lambda sha: commit_item(call.state, call.repo, sha),
    )


def list_files(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/pulls/{pull_number}/files"""
    issue = finding.pull(call)
    assert issue.pull is not None
    shapes.refresh(call.repo, issue.pull)
    pull = issue.pull
    base = git_store.merge_base(call.repo.path, pull.base_sha, pull.head_sha) or pull.base_sha
    return Answer(
        page_of=diff_entries(call.state, call.repo, base, pull.head_sha), show=lambda each: each
    )


_PULLS = "/repos/{owner}/{repo}/pulls"
_PULL = _PULLS + "/{pull_number}"
_NEEDS = ("pull_requests",)
ENDPOINTS = (
    Endpoint(f"GET {_PULLS}", list_pulls, permissions=_NEEDS),
    Endpoint(f"POST {_PULLS}", create_pull, permissions=_NEEDS, level="write", role="read"),
    Endpoint(f"GET {_PULL}", get_pull, permissions=_NEEDS),
    Endpoint(f"PATCH {_PULL}", update_pull, permissions=_NEEDS, level="write"),
    Endpoint(f"PUT {_PULL}/merge", merge_pull, permissions=("contents",), level="write"),
    Endpoint(f"GET {_PULL}/commits", list_commits, permissions=_NEEDS),
    Endpoint(f"GET {_PULL}/files", list_files, permissions=_NEEDS),
)
