"""The App's own endpoints: itself, its installations, their tokens."""

import base64
import json
import secrets
from datetime import timedelta
from typing import Any

from emulator.github.acts.installations import uninstall
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_found
from emulator.github.records import LEVELS, Installation, Repository, Token
from emulator.github.shapes import accounts
from emulator.github.shapes.accounts import moment
from emulator.github.shapes.repositories import repository
from emulator.github.state import State

TOKEN_LIFE = timedelta(hours=1)


def get_app(call: Call) -> Answer:
    """GET /app"""
    count = len(call.state.installations)
    return Answer(body=accounts.app(call.state) | {"installations_count": count})


def get_app_by_slug(call: Call) -> Answer:
    """GET /apps/{app_slug}"""
    if call.path["app_slug"] != call.state.app_slug:
        raise not_found()
    return Answer(body=accounts.app(call.state))


def list_installations(call: Call) -> Answer:
    """GET /app/installations"""
    state = call.state
    return Answer(
        page_of=list(state.installations.values()),
        show=lambda each: accounts.installation(state, each),
    )


def _installation(call: Call) -> Installation:
    found = call.state.installations.get(call.path["installation_id"])
    if found is None:
        raise not_found()
    return found


def get_installation(call: Call) -> Answer:
    """GET /app/installations/{installation_id}"""
    return Answer(body=accounts.installation(call.state, _installation(call)))


def delete_installation(call: Call) -> Answer:
    """DELETE /app/installations/{installation_id}"""
    uninstall(call.state, _installation(call), call.state.bot)
    return Answer(204)


def get_repository_installation(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/installation"""
    found = call.state.installation_of(call.repo)
    if found is None:
        raise not_found()
    return Answer(body=accounts.installation(call.state, found))


def create_token(call: Call) -> Answer:
    """POST /app/installations/{installation_id}/access_tokens"""
    state, installation = call.state, _installation(call)
    if installation.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    permissions = _permissions(installation, call.body.get("permissions"))
    chosen = _repositories(state, installation, call.body)
    expires = state.now() + TOKEN_LIFE
    token = Token(
        new_token(state, installation.id),
        expires,
        installation,
        None,
        permissions,
        None if chosen is None else frozenset(each.id for each in chosen),
    )
    state.tokens[token.value] = token
    body: dict[str, Any] = {
        "token": token.value,
        "expires_at": moment(expires),
        "permissions": permissions,
        "repository_selection": installation.selection if chosen is None else "selected",
    }
    if chosen is not None:
        body["repositories"] = [repository(state, each) for each in chosen]
    return Answer(201, body)


def _permissions(installation: Installation, asked: dict[str, str] | None) -> dict[str, str]:
    if asked is None:
        return dict(installation.permissions)
    for name, level in asked.items():
        granted = installation.permissions.get(name, "none")
        if LEVELS.index(level) > LEVELS.index(granted):
            raise Refused(422, "The permissions requested are not granted to this installation.")
    # Reading metadata comes with every other permission.
    return {"metadata": "read", **asked}


def _repositories(state: State, installation: Installation, body: Any) -> list[Repository] | None:
    names, ids = body.get("repositories"), body.get("repository_ids")
    if names is None and ids is None:
        return None
    covered = state.installed_on(installation)
    by_name = {each.name.lower(): each for each in covered}
    by_id = {each.id: each for each in covered}
    found = [by_name.get(name.lower()) for name in names or ()]
    found += [by_id.get(number) for number in ids or ()]
    known = [each for each in found if each is not None]
    if len(known) != len(found) or not known:
        raise Refused(
            422,
            "There is at least one repository that does not exist or is not accessible to the "
            "parent installation.",
        )
    return known


def new_token(state: State, installation_id: int) -> str:
    """A fresh installation token in the state's format.

    Short is `ghs_` and 36 characters; long, GitHub's form since 2026-04-27, is
    `ghs_<app id>_<JWT>`, some hundred characters with dots, dashes and underscores.
    """
    if not state.long_tokens:
        return "ghs_" + secrets.token_hex(18)
    claims = {"iss": "emulator", "sub": str(installation_id), "jti": secrets.token_hex(8)}
    parts = (json.dumps({"alg": "RS256", "typ": "JWT"}).encode(), json.dumps(claims).encode())
    encoded = [base64.urlsafe_b64encode(each).rstrip(b"=").decode() for each in parts]
    return f"ghs_{state.app_id}_{'.'.join([*encoded, secrets.token_urlsafe(64)])}"


def revoke_token(call: Call) -> Answer:
    """DELETE /installation/token"""
    assert call.caller.token is not None
    del call.state.tokens[call.caller.token.value]
    return Answer(204)


def list_repositories(call: Call) -> Answer:
    """GET /installation/repositories"""
    state, token = call.state, call.caller.token
    assert token is not None
    assert token.installation is not None
    covered = [
        each
        for each in state.installed_on(token.installation)
        if token.repository_ids is None or each.id in token.repository_ids
    ]
    selection = token.installation.selection if token.repository_ids is None else "selected"
    return Answer(
        page_of=covered,
        show=lambda each: repository(state, each),
        wrap=lambda page, total: {
            "total_count": total,
            "repositories": page,
            "repository_selection": selection,
        },
    )


ENDPOINTS = (
    Endpoint("GET /app", get_app, "app"),
    Endpoint("GET /apps/{app_slug}", get_app_by_slug, "anyone"),
    Endpoint("GET /app/installations", list_installations, "app"),
    Endpoint("GET /app/installations/{installation_id}", get_installation, "app"),
    Endpoint("DELETE /app/installations/{installation_id}", delete_installation, "app"),
    Endpoint("POST /app/installations/{installation_id}/access_tokens", create_token, "app"),
    Endpoint("GET /repos/{owner}/{repo}/installation", get_repository_installation, "app"),
    Endpoint("GET /installation/repositories", list_repositories, "installation"),
    Endpoint("DELETE /installation/token", revoke_token, "installation"),
)
