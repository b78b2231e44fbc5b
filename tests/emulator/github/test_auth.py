"""Who gets in, with what, and how everybody else is refused."""

import time
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

REPO = "/repos/acme/demo"


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({"exp": 541}, 200),
        ({"iss": "client"}, 200),
        ({"exp": 700}, 401),
        ({"exp": -1}, 401),
        ({"iat": 120}, 401),
        ({"iss": "4711"}, 401),
    ],
)
async def test_jwt_claims(github: Any, ask: Any, changed: dict[str, Any], status: int) -> None:
    """A JWT is good for at most 600 s, from now or earlier, for this App only."""
    now = int(time.time())
    claims: dict[str, Any] = {"iat": now - 59, "exp": now + 500, "iss": str(github.app_id)}
    for name, value in changed.items():
        claims[name] = now + value if isinstance(value, int) else value
    if claims["iss"] == "client":
        claims["iss"] = github.client_id
    made = jwt.encode(claims, github.key.pem, algorithm="RS256")
    assert (await ask("GET /app", made)).status_code == status


async def test_jwt_of_another_key(github: Any, ask: Any) -> None:
    """A JWT signed with somebody else's key is refused."""
    key = generate_private_key(65537, 2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    now = int(time.time())
    claims = {"iat": now, "exp": now + 60, "iss": str(github.app_id)}
    answer = await ask("GET /app", jwt.encode(claims, pem, algorithm="RS256"))
    assert answer.status_code == 401
    assert answer.json()["message"] == "A JSON web token could not be decoded"


@pytest.mark.parametrize("long_tokens", [True, False])
async def test_token_forms(github: Any, ask: Any, app_jwt: str, long_tokens: bool) -> None:
    """Both of GitHub's token formats are handed out and work; the time has whole seconds."""
    github.long_tokens = long_tokens
    [installation] = github.installations
    made = await ask(f"POST /app/installations/{installation}/access_tokens", app_jwt)
    assert made.status_code == 201
    value = made.json()["token"]
    assert value.startswith(f"ghs_{github.app_id}_ey" if long_tokens else "ghs_")
    assert (len(value) == 40) is not long_tokens
    assert len(made.json()["expires_at"]) == len("2026-01-01T00:00:00Z")
    assert (await ask("GET /installation/repositories", value)).json()["total_count"] == 1


async def test_token_ends(github: Any, ask: Any, app_jwt: str, installation: Any) -> None:
    """A token ends after an hour, when revoked, suspended or uninstalled."""
    path = f"POST /app/installations/{installation.id}/access_tokens"
    first, second, third = [(await ask(path, app_jwt)).json()["token"] for _ in range(3)]
    assert (await ask("DELETE /installation/token", first)).status_code == 204
    assert (await ask(f"GET {REPO}", first)).status_code == 401
    github.suspend(installation)
    assert (await ask(f"GET {REPO}", second)).status_code == 403
    assert (await ask(path, app_jwt)).status_code == 403
    github.unsuspend(installation)
    assert (await ask(f"GET {REPO}", second)).status_code == 200
    github.clock_skew = timedelta(minutes=61)
    assert (await ask(f"GET {REPO}", second)).json()["message"] == "Bad credentials"
    github.clock_skew = timedelta()
    github.uninstall(installation)
    assert (await ask(f"GET {REPO}", third)).status_code == 401
    assert (await ask(path, app_jwt)).status_code == 404


async def test_token_scope(github: Any, ask: Any, app_jwt: str, installation: Any) -> None:
    """A token for one repository does not see the private others; 422 asks for too much."""
    other = github.add_repository("other", private=True)
    path = f"POST /app/installations/{installation.id}/access_tokens"
    made = await ask(path, app_jwt, json={"repository_ids": [other.id]})
    assert [each["name"] for each in made.json()["repositories"]] == ["other"]
    narrow = made.json()["token"]
    assert (await ask(f"GET {REPO}", narrow)).status_code == 404
    assert (await ask("GET /repos/acme/other", narrow)).status_code == 200
    for wrong in (
        {"repositories": ["nowhere"]},
        {"repository_ids": [1]},
        {"permissions": {"administration": "write"}},
        {"permissions": {"no_such_permission": "read"}},
    ):
        assert (await ask(path, app_jwt, json=wrong)).status_code == 422


async def test_selected_installation(github: Any, ask: Any, token: str) -> None:
    """Repositories join and leave a selected installation at once."""
    other = github.add_repository("other", private=True)
    selected = github.install([other])
    narrow = github.installation_token(selected)
    assert (await ask("GET /installation/repositories", narrow)).json()["total_count"] == 1
    github.remove_from_installation(selected, other)
    assert (await ask("GET /repos/acme/other", narrow)).status_code == 404
    assert (await ask("GET /repos/acme/other", token)).status_code == 200


@pytest.mark.parametrize(
    ("permissions", "operation", "body", "status"),
    [
        ({"contents": "read"}, "GET /git/ref/heads/main", None, 200),
        ({"issues": "read"}, "GET /git/ref/heads/main", None, 403),
        ({"contents": "read"}, "POST /git/blobs", {"content": "x"}, 403),
        ({"issues": "read"}, "POST /issues/1/comments", {"body": "x"}, 403),
        ({"issues": "write"}, "POST /issues/1/comments", {"body": "x"}, 201),
        ({"pull_requests": "write"}, "POST /issues/1/comments", {"body": "x"}, 403),
        ({"issues": "write"}, "POST /pulls", {"title": "t", "head": "a", "base": "b"}, 403),
        ({"contents": "write"}, "POST /check-runs", {"name": "n", "head_sha": "x"}, 403),
        ({"metadata": "read"}, "GET /collaborators/maintainer/permission", None, 200),
    ],
)
async def test_permissions(
    github: Any,
    ask: Any,
    repo: Any,
    installation: Any,
    permissions: dict[str, str],
    operation: str,
    body: Any,
    status: int,
) -> None:
    """A token does what its permissions name, and 403 says that the integration may not."""
    github.open_issue(repo, "Bug")
    narrow = github.installation_token(installation, permissions)
    method, path = operation.split(" ")
    answer = await ask(f"{method} {REPO}{path}", narrow, **({"json": body} if body else {}))
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["message"] == "Resource not accessible by integration"


async def test_public_repository(github: Any, ask: Any) -> None:
    """What is public is readable without a permission and without a token, not writable."""
    public = github.add_repository("open")
    github.seed(public, {"a": "1"})
    github.open_issue(public, "Bug")
    other = github.add_repository("other")
    narrow = github.installation_token(github.install([other]), {"metadata": "read"})
    for who in (None, narrow):
        assert (await ask("GET /repos/acme/open/issues/1", who)).status_code == 200
    said = {"json": {"body": "x"}}
    assert (await ask("POST /repos/acme/open/issues/1/comments", narrow, **said)).status_code == 403
    assert (await ask("POST /repos/acme/open/issues/1/comments", **said)).status_code == 401


async def test_persons(github: Any, ask: Any, repo: Any, reader: str, writer: str) -> None:
    """A reader may comment, not label; a writer may; a stranger sees nothing."""
    github.open_issue(repo, "Bug")
    stranger = github.token_for(github.add_user("stranger"))
    label = {"json": {"labels": ["prism-fix"]}}
    assert (await ask(f"POST {REPO}/issues/1/labels", reader, **label)).status_code == 403
    assert (await ask(f"POST {REPO}/issues/1/labels", writer, **label)).status_code == 200
    said = await ask(f"POST {REPO}/issues/1/comments", reader, json={"body": "hello"})
    assert said.json()["user"]["login"] == "reader"
    assert said.json()["performed_via_github_app"] is None
    assert (await ask(f"GET {REPO}", stranger)).status_code == 404
    assert (await ask("GET /user", writer)).json()["login"] == "writer"


@pytest.mark.parametrize(
    ("role", "permission"),
    [
        ("admin", "admin"),
        ("maintain", "write"),
        ("write", "write"),
        ("triage", "read"),
        ("read", "read"),
        ("none", "none"),
    ],
)
async def test_collaborator_permission(
    github: Any, ask: Any, token: str, role: Any, permission: str
) -> None:
    """`permission` has four words, `role_name` tells maintain and triage apart."""
    github.add_user("somebody", role)
    answer = await ask(f"GET {REPO}/collaborators/Somebody/permission", token)
    assert (answer.json()["permission"], answer.json()["role_name"]) == (permission, role)


async def test_collaborator_unknown(ask: Any, token: str) -> None:
    """Nobody, and the App's bot, are no collaborators: 404."""
    for login in ("nobody", "prism[bot]"):
        answer = await ask(f"GET {REPO}/collaborators/{login}/permission", token)
        assert answer.status_code == 404


async def test_wrong_kind(ask: Any, token: str, app_jwt: str, writer: str) -> None:
    """A JWT opens the App's endpoints only, a token never does, nonsense nothing."""
    assert (await ask("GET /app", token)).status_code == 401
    assert (await ask("GET /app")).status_code == 401
    assert (await ask(f"GET {REPO}", app_jwt)).status_code == 403
    assert (await ask(f"GET {REPO}", "ghs_nonsense")).status_code == 401
    assert (await ask(f"GET {REPO}")).status_code == 404
    assert (await ask("GET /installation/repositories", writer)).status_code == 403


async def test_rate_limit(github: Any, ask: Any, token: str) -> None:
    """Headers count down; behind the limit there is 403 with nothing remaining."""
    github.rate_limit = 2
    left = [(await ask(f"GET {REPO}", token)).headers["x-ratelimit-remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    answer = await ask(f"GET {REPO}", token)
    assert answer.status_code == 403
    assert answer.json()["message"].startswith("API rate limit exceeded")
    assert int(answer.headers["x-ratelimit-reset"]) > time.time()
    assert answer.headers["x-github-request-id"]
