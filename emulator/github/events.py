"""Webhook payloads: what happened, the objects in full, repository, organisation, installation."""

from typing import Any

from emulator.github.records import LEVELS, Comment, Installation, Issue, Repository, User
from emulator.github.shapes import accounts, issues, pulls, repositories
from emulator.github.state import State, node_id
from emulator.github.validation import payload_violation

# The permission without which GitHub does not send an event.
_PERMISSIONS = {"issues": "issues", "issue_comment": "issues", "pull_request": "pull_requests"}

_ON_ISSUES = ("opened", "edited", "closed", "reopened", "labeled", "unlabeled")
# As GitHub's description of its webhooks names them.
WEBHOOK_NAMES = (
    *(f"issues-{each}" for each in _ON_ISSUES),
    *(f"pull-request-{each}" for each in (*_ON_ISSUES, "synchronize", "ready-for-review")),
    *(f"issue-comment-{each}" for each in ("created", "edited", "deleted")),
    *(f"installation-{each}" for each in ("created", "deleted", "suspend", "unsuspend")),
    *(f"installation-repositories-{each}" for each in ("added", "removed")),
    "ping",
)


def issue_changed(
    state: State, repo: Repository, what: Issue, action: str, sender: User, **more: Any
) -> None:
    """Send `issues` or, for a pull request, `pull_request`; `more` are further fields."""
    payload = {"action": action, "number": what.number, **more}
    if what.pull is None:
        del payload["number"]
        payload["issue"] = issues.issue(state, repo, what)
        _send(state, "issues", repo, payload, sender)
    else:
        payload["pull_request"] = pulls.full(state, repo, what)
        _send(state, "pull_request", repo, payload, sender)


def comment_changed(
    state: State,
    repo: Repository,
    on: Issue,
    what: Comment,
    action: str,
    sender: User,
    **more: Any,
) -> None:
    """Send `issue_comment`, which also stands for comments below pull requests."""
    payload = {
        "action": action,
        "issue": issues.issue(state, repo, on),
        "comment": issues.comment(state, repo, on, what),
        **more,
    }
    _send(state, "issue_comment", repo, payload, sender)


def _send(
    state: State, event: str, repo: Repository, payload: dict[str, Any], sender: User
) -> None:
    installation = state.installation_of(repo)
    if installation is None or not _wants(state, installation, event):
        return
    _deliver(
        state,
        event,
        {
            **payload,
            "repository": repositories.repository(state, repo),
            "organization": organization(state, repo.owner),
            "sender": accounts.user(state, sender),
            "installation": {
                "id": installation.id,
                "node_id": node_id("Integration_installation", installation.id),
            },
        },
        installation_id=installation.id,
        repository_id=repo.id,
    )


def _deliver(
    state: State,
    event: str,
    payload: dict[str, Any],
    *,
    installation_id: int | None = None,
    repository_id: int | None = None,
) -> None:
    complaint = payload_violation(event, payload)
    if complaint is not None:
        state.violations.append(complaint)
    state.webhooks.send(
        event, payload, installation_id=installation_id, repository_id=repository_id
    )


def _wants(state: State, installation: Installation, event: str) -> bool:
    held = installation.permissions.get(_PERMISSIONS[event], "none")
    allowed = LEVELS.index(held) >= LEVELS.index("read")
    return allowed and installation.suspended_at is None and event in state.events


def organization(state: State, org: User) -> dict[str, Any]:
    """The organisation as events carry it."""
    url = f"{state.url}/api/v3/orgs/{org.login}"
    return {
        "login": org.login,
        "id": org.id,
        "node_id": node_id("Organization", org.id),
        "url": url,
        "repos_url": f"{url}/repos",
        "events_url": f"{url}/events",
        "hooks_url": f"{url}/hooks",
        "issues_url": f"{url}/issues",
        "members_url": f"{url}/members{{/member}}",
        "public_members_url": f"{url}/public_members{{/member}}",
        "avatar_url": f"{state.url}/avatars/{org.id}",
        "description": "",
    }


def installation_changed(
    state: State,
    what: Installation,
    action: str,
    sender: User,
    repositories_named: list[Repository] | None = None,
) -> None:
    """Send `installation`; `created` and `deleted` name the repositories."""
    payload: dict[str, Any] = {
        "action": action,
        "installation": accounts.installation(state, what),
        "sender": accounts.user(state, sender),
    }
    if repositories_named is not None:
        payload["repositories"] = [accounts.named(each) for each in repositories_named]
    if action == "created":
        payload["requester"] = None
    _deliver(state, "installation", payload, installation_id=what.id)


def repositories_changed(
    state: State,
    what: Installation,
    sender: User,
    added: list[Repository],
    removed: list[Repository],
) -> None:
    """Send `installation_repositories`; its entries lack the default branch, as on GitHub."""
    payload = {
        "action": "added" if added else "removed",
        "installation": accounts.installation(state, what),
        "repository_selection": what.selection,
        "repositories_added": [accounts.named(each) for each in added],
        "repositories_removed": [accounts.named(each) for each in removed],
        "requester": None,
        "sender": accounts.user(state, sender),
    }
    _deliver(state, "installation_repositories", payload, installation_id=what.id)


def ping(state: State) -> None:
    """Send `ping`, as GitHub does when the webhook's address is set."""
    url = f"{state.url}/api/v3/app/hook"
    hook = {
        "type": "App",
        "id": state.app_id,
        "name": "web",
        "active": True,
        "events": list(state.events),
        "config": {"content_type": "json", "insecure_ssl": "0", "url": state.webhooks.url},
        "updated_at": accounts.moment(state.now()),
        "created_at": accounts.moment(state.started_at),
        "app_id": state.app_id,
        "deliveries_url": f"{url}/deliveries",
    }
    zen = "Design for failure."
    _deliver(state, "ping", {"zen": zen, "hook_id": state.app_id, "hook": hook})
