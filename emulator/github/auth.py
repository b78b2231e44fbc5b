"""Who is asking, and may they: App JWTs, installation tokens, persons' tokens, scopes, roles."""

import base64
import binascii
from collections.abc import Mapping

import jwt

from emulator.github.api import Caller, Endpoint
from emulator.github.errors import Refused, bad_credentials, not_accessible, not_found
from emulator.github.records import ROLES, Repository, Role, Token
from emulator.github.state import State

JWT_LIFE_S = 600
CLOCK_TOLERANCE_S = 30


def caller_of(state: State, headers: Mapping[str, str]) -> Caller:
    """Read the Authorization header; Refused 401 for anything that is not valid now."""
    scheme, _, credential = headers.get("authorization", "").partition(" ")
    credential = credential.strip()
    if not scheme:
        return Caller("anonymous")
    if scheme.lower() == "basic":
        return token_caller(state, basic_password(credential))
    if scheme.lower() not in ("bearer", "token") or not credential:
        raise bad_credentials()
    if scheme.lower() == "bearer" and credential.count(".") == 2 and credential.startswith("ey"):
        _check_app_jwt(state, credential)
        return Caller("app")
    return token_caller(state, credential)


def basic_password(credential: str) -> str:
    """The password of Basic credentials, or "" when they cannot be read."""
    try:
        return base64.b64decode(credential, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


def token_caller(state: State, value: str) -> Caller:
    """The holder of a token; Refused 401 when unknown, revoked or expired, 403 when suspended."""
    token = state.tokens.get(value)
    if token is None or (token.expires_at is not None and token.expires_at <= state.now()):
        raise bad_credentials()
    if token.installation is None:
        return Caller("user", token)
    if token.installation.suspended_at is not None:
        raise Refused(403, "This installation has been suspended")
    return Caller("installation", token)


def _check_app_jwt(state: State, credential: str) -> None:
    try:
        claims = jwt.decode(
            credential,
            state.key.public,
            algorithms=["RS256"],
            options={"verify_exp": False, "verify_iat": False, "verify_iss": False},
        )
        issuer, issued, expires = str(claims["iss"]), int(claims["iat"]), int(claims["exp"])
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError) as cause:
        raise Refused(401, "A JSON web token could not be decoded") from cause
    now = int(state.now().timestamp())
    if issuer not in (str(state.app_id), state.client_id):
        raise Refused(401, "'Issuer' claim ('iss') must be the App's id or client id")
    if issued > now + CLOCK_TOLERANCE_S:
        raise Refused(
            401,
            "'Issued at' claim ('iat') must be an Integer representing the time that "
            "the assertion was issued",
        )
    if expires <= now:
        raise Refused(
            401,
            "'Expiration time' claim ('exp') must be a numeric value representing the future "
            "time at which the assertion expires",
        )
    if expires - issued > JWT_LIFE_S or expires > now + JWT_LIFE_S + CLOCK_TOLERANCE_S:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")


def admit(state: State, caller: Caller, endpoint: Endpoint, repo: Repository | None) -> None:
    """Refuse a caller of the wrong kind, or one without the rights the endpoint asks for."""
    if endpoint.who == "anyone":
        return
    if endpoint.who == "app":
        if caller.kind != "app":
            raise Refused(401, "A JSON web token could not be decoded")
        return
    if caller.kind == "app":
        raise Refused(403, "This endpoint requires you to authenticate with an access token")
    if caller.kind == "anonymous" and (repo is None or repo.private or endpoint.level != "read"):
        raise (
            not_found()
            if repo is not None and repo.private
            else Refused(401, "Requires authentication")
        )
    if endpoint.who == "installation" and caller.kind != "installation":
        raise Refused(403, "You must authenticate with an installation access token")
    if endpoint.app_only and caller.kind != "installation":
        raise Refused(403, "You must authenticate via a GitHub App")
    if repo is not None and endpoint.who == "repository":
        allow(state, caller, repo, endpoint)


def allow(state: State, caller: Caller, repo: Repository, endpoint: Endpoint) -> None:
    """Refuse what the caller may not do in this repository.

    404 for what they may not see; 403 for what they see and may not do. What is public may be
    read without any permission, as on GitHub.
    """
    if caller.kind == "anonymous":
        return
    reads = endpoint.level == "read"
    if caller.kind == "user":
        needed = endpoint.role or ("read" if reads else "write")
        _require_role(state, caller, repo, needed)
    elif not reaches(state, caller, repo):
        if repo.private:
            raise not_found()
        if not reads or endpoint.app_only:
            raise not_accessible()
    elif not any(caller.holds(each, endpoint.level) for each in endpoint.permissions) and not (
        reads and not repo.private
    ):
        raise not_accessible()
    if repo.archived and not reads:
        raise Refused(403, "Repository was archived so is read-only.")


def reaches(state: State, caller: Caller, repo: Repository) -> bool:
    """Whether an installation token covers the repository."""
    token = caller.token
    if token is None or token.installation is None:
        return False
    return repo in state.installed_on(token.installation) and (
        token.repository_ids is None or repo.id in token.repository_ids
    )


def has_role(state: State, token: Token, repo: Repository, needed: Role) -> bool:
    """Whether a person's role there is at least `needed`."""
    assert token.user is not None
    return ROLES.index(state.role(token.user, repo)) >= ROLES.index(needed)


def _require_role(state: State, caller: Caller, repo: Repository, needed: Role) -> None:
    assert caller.token is not None
    if not has_role(state, caller.token, repo, "read"):
        raise not_found()
    if not has_role(state, caller.token, repo, needed):
        raise Refused(403, f"Must have {needed} rights to Repository.")
