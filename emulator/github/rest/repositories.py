"""Repositories, branches, collaborators, and who is asking."""

from typing import Any

from emulator.github import git_store
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.auth import has_role, reaches
from emulator.github.errors import Refused, not_accessible
from emulator.github.records import Role
from emulator.github.rest.commits import with_files
from emulator.github.shapes import accounts
from emulator.github.shapes.git import commit_item
from emulator.github.shapes.repositories import api_url, full_repository, page_url

# `permission` knows four words; the finer `role_name` tells triage and maintain apart.
_PERMISSIONS: dict[Role, str] = {"maintain": "write", "triage": "read"}


def get_repository(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}"""
    token = call.caller.token
    person = None if token is None else token.user
    role: Role = "read" if person is None else call.state.role(person, call.repo)
    return Answer(body=full_repository(call.state, call.repo, role))


def list_branches(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/branches"""
    url = api_url(call.state, call.repo)
    rows = git_store.references(call.repo.path, "refs/heads/")
    return Answer(
        page_of=rows,
        show=lambda row: {
            "name": row[0].removeprefix("refs/heads/"),
            "commit": {"sha": row[1], "url": f"{url}/commits/{row[1]}"},
            "protected": False,
        },
    )


def get_branch(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/branches/{branch}"""
    name = call.path["branch"]
    sha = git_store.branch_sha(call.repo.path, name)
    if sha is None:
        raise Refused(404, "Branch not found")
    url = f"{api_url(call.state, call.repo)}/branches/{name}"
    return Answer(
        body={
            "name": name,
            "commit": with_files(call, commit_item(call.state, call.repo, sha)),
            "_links": {"self": url, "html": f"{page_url(call.state, call.repo)}/tree/{name}"},
            "protected": False,
            "protection": {"enabled": False},
            "protection_url": f"{url}/protection",
        }
    )


def get_permission(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/collaborators/{username}/permission"""
    _may_ask(call)
    who = call.state.users.get(call.path["username"].lower())
    if who is None or who.type != "User":
        raise Refused(404, f"{call.path['username']} is not a user")
    role = call.state.role(who, call.repo)
    flags: dict[str, Any] = full_repository(call.state, call.repo, role)["permissions"]
    shown = accounts.user(call.state, who) | {"permissions": flags, "role_name": role}
    return Answer(
        body={"permission": _PERMISSIONS.get(role, role), "user": shown, "role_name": role}
    )


def _may_ask(call: Call) -> None:
    # Not public, even for a public repository.
    if call.caller.kind == "installation":
        if not reaches(call.state, call.caller, call.repo):
            raise not_accessible()
        call.require("metadata", "read")
    elif call.caller.token is None or not has_role(
        call.state, call.caller.token, call.repo, "write"
    ):
        raise Refused(403, "Must have push access to view collaborator permission.")


def get_user(call: Call) -> Answer:
    """GET /users/{username}"""
    return Answer(body=accounts.public_user(call.state, call.state.user(call.path["username"])))


def get_me(call: Call) -> Answer:
    """GET /user"""
    token = call.caller.token
    if token is None or token.user is None:
        raise not_accessible()
    return Answer(body=accounts.public_user(call.state, token.user))


def get_rate_limit(call: Call) -> Answer:
    """GET /rate_limit"""
    token = call.caller.token
    limit = call.state.rate_limit
    used = call.state.spent.get(token.value, 0) if token is not None else 0
    reset = int(call.state.now().timestamp()) + 3600
    rate = {"limit": limit, "used": used, "remaining": max(limit - used, 0), "reset": reset}
    return Answer(body={"resources": {"core": rate, "search": rate}, "rate": rate})


_REPO = "/repos/{owner}/{repo}"
ENDPOINTS = (
    Endpoint(f"GET {_REPO}", get_repository),
    Endpoint(f"GET {_REPO}/branches", list_branches, permissions=("contents",)),
    Endpoint(f"GET {_REPO}/branches/{{branch}}", get_branch, permissions=("contents",)),
    Endpoint(f"GET {_REPO}/collaborators/{{username}}/permission", get_permission),
    Endpoint("GET /user", get_me, "any"),
    Endpoint("GET /users/{username}", get_user, "anyone"),
    Endpoint("GET /rate_limit", get_rate_limit, "anyone"),
)
