"""Signed deliveries, their record, and redelivery."""

import hashlib
import hmac
import json
from typing import Any

import pytest

SECRET = "a-secret-of-the-right-length-1234"


def events(receiver: Any) -> list[tuple[str, str | None]]:
    """Event and action of everything received, in alphabetical order: delivery has none."""
    return sorted(
        (headers["x-github-event"], json.loads(body).get("action"))
        for headers, body in receiver.seen
    )


async def test_signed(github: Any, repo: Any, installation: Any, receiver: Any) -> None:
    """A delivery is signed over its raw bytes and names installation and sender."""
    github.webhook(receiver.url, SECRET)
    github.open_issue(repo, "Bug 💥", None, github.add_user("reader", "read"))
    github.webhooks.settle()
    [(headers, body)] = receiver.seen
    wanted = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-hub-signature-256"] == wanted
    assert headers["content-type"] == "application/json"
    payload = json.loads(body)
    assert payload["installation"]["id"] == installation.id
    assert payload["sender"]["login"] == "reader"
    assert payload["issue"]["body"] is None
    assert payload["repository"]["full_name"] == "acme/demo"


async def test_every_event(github: Any, ask: Any, repo: Any, token: str, receiver: Any) -> None:
    """Everything that happens is announced once; a labelled pull request not as an issue."""
    github.webhook(receiver.url, SECRET, ping=True)
    github.open_issue(repo, "Bug", "it breaks", labels=["prism-fix"])
    github.edit_issue(repo, 1, title="Bad bug")
    github.remove_label(repo, 1, "prism-fix")
    comment = await ask("POST /repos/acme/demo/issues/1/comments", token, json={"body": "one"})
    path = f"/repos/acme/demo/issues/comments/{comment.json()['id']}"
    await ask(f"PATCH {path}", token, json={"body": "two"})
    await ask(f"DELETE {path}", token)
    github.close_issue(repo, 1)
    github.branch(repo, "fix")
    github.seed(repo, {"a": "1"}, branch="fix")
    github.open_pull(repo, "Fix", "fix", draft=True)
    github.add_label(repo, 2, "prism-fix")
    github.webhooks.settle()
    assert events(receiver) == sorted(
        [
            ("ping", None),
            *(("issues", each) for each in ("opened", "labeled", "edited", "unlabeled", "closed")),
            *(("issue_comment", each) for each in ("created", "edited", "deleted")),
            *(("pull_request", each) for each in ("opened", "labeled")),
        ],
        key=str,
    )


async def test_installation_events(github: Any, repo: Any, receiver: Any) -> None:
    """Installing, changing and removing are announced without a default branch."""
    github.webhook(receiver.url, SECRET)
    selected = github.install([repo])
    other = github.add_repository("other")
    github.add_to_installation(selected, other)
    github.remove_from_installation(selected, other)
    github.suspend(selected)
    github.unsuspend(selected)
    github.uninstall(selected)
    github.webhooks.settle()
    assert events(receiver) == [
        ("installation", "created"),
        ("installation", "deleted"),
        ("installation", "suspend"),
        ("installation", "unsuspend"),
        # One from the installation on all repositories, which covers the new one by itself.
        ("installation_repositories", "added"),
        ("installation_repositories", "added"),
        ("installation_repositories", "removed"),
    ]
    for _, body in receiver.seen:
        for entry in json.loads(body).get("repositories_added", []):
            assert "default_branch" not in entry


@pytest.mark.parametrize(
    "silence",
    [
        lambda github, installation: github.suspend(installation),
        lambda github, installation: github.uninstall(installation),
        lambda github, installation: setattr(github, "events", ("pull_request",)),
        lambda github, installation: installation.permissions.pop("issues"),
    ],
    ids=["suspended", "uninstalled", "not subscribed", "no permission"],
)
async def test_not_for_us(
    github: Any, repo: Any, installation: Any, receiver: Any, silence: Any
) -> None:
    """No installation, no subscription or no permission: no delivery."""
    silence(github, installation)
    github.webhook(receiver.url, SECRET)
    github.open_issue(repo, "Bug")
    github.webhooks.settle()
    assert receiver.seen == []


async def test_redelivery(github: Any, ask: Any, repo: Any, app_jwt: str, receiver: Any) -> None:
    """A failed delivery is not repeated until asked for; then with the same GUID and bytes."""
    receiver.status = 503
    github.webhook(receiver.url, SECRET)
    github.open_issue(repo, "Bug")
    github.webhooks.settle()
    assert len(receiver.seen) == 1
    [failed] = (await ask("GET /app/hook/deliveries?status=failure", app_jwt)).json()
    assert (failed["status_code"], failed["redelivery"]) == (503, False)
    receiver.status = 202
    path = f"/app/hook/deliveries/{failed['id']}"
    assert (await ask(f"POST {path}/attempts", app_jwt)).status_code == 202
    github.webhooks.settle()
    assert receiver.seen[0] == receiver.seen[1]
    newest, oldest = (await ask("GET /app/hook/deliveries", app_jwt)).json()
    assert newest["guid"] == oldest["guid"]
    assert (newest["redelivery"], newest["status"]) == (True, "OK")
    whole = (await ask(f"GET {path}", app_jwt)).json()
    assert whole["request"]["payload"]["action"] == "opened"
    assert whole["response"]["payload"] == "taken"


async def test_delivery_pages(
    github: Any, ask: Any, repo: Any, app_jwt: str, receiver: Any
) -> None:
    """The list of deliveries is followed by cursor, newest first."""
    github.webhook(receiver.url, SECRET)
    for number in range(5):
        github.open_issue(repo, f"Bug {number}")
    github.webhooks.settle()
    seen: list[int] = []
    operation = "GET /app/hook/deliveries?per_page=2"
    while operation:
        answer = await ask(operation, app_jwt)
        seen += [each["id"] for each in answer.json()]
        following = answer.links.get("next")
        operation = f"GET {following['url']}" if following else ""
    assert len(seen) == 5
    assert seen == sorted(seen, reverse=True)
    assert (await ask("GET /app/hook/deliveries?cursor=nonsense", app_jwt)).status_code == 400


async def test_nobody_listens(github: Any, ask: Any, repo: Any, app_jwt: str) -> None:
    """A target that is down is recorded as such and disturbs nobody."""
    github.webhook("http://127.0.0.1:9/hook", SECRET)
    github.open_issue(repo, "Bug")
    github.webhooks.settle()
    [failed] = (await ask("GET /app/hook/deliveries", app_jwt)).json()
    assert (failed["status_code"], failed["status"]) == (502, "failed to connect to host")


async def test_slow_target(github: Any, repo: Any, receiver: Any, slow: str) -> None:
    """A target that does not answer in time is given up."""
    github.webhooks.timeout_s = 0.2
    github.webhook(slow, SECRET)
    github.open_issue(repo, "Bug")
    github.webhooks.settle()
    assert github.webhooks.deliveries[-1].status == "timed out"


async def test_config(github: Any, ask: Any, app_jwt: str) -> None:
    """The App reads and moves its own webhook; the secret is never shown."""
    changed = {"url": "http://127.0.0.1:9/x", "secret": SECRET}
    answer = await ask("PATCH /app/hook/config", app_jwt, json=changed)
    assert answer.json()["url"] == github.webhooks.url == changed["url"]
    assert SECRET not in (await ask("GET /app/hook/config", app_jwt)).text
