"""Failures on order, the request log and the admin addresses."""

import time
from typing import Any

import httpx
import pytest

from emulator.github import git_store
from emulator.github.faults import Faults

REPO = "/repos/acme/demo"


@pytest.mark.parametrize(("status", "times"), [(502, 1), (403, 2), (422, 1)])
async def test_before(
    github: Any, ask: Any, repo: Any, token: str, status: int, times: int
) -> None:
    """An ordered failure comes as often as ordered, and nothing is done."""
    github.open_issue(repo, "Bug")
    github.faults.add("POST", "/comments$", status, times, headers={"retry-after": "7"})
    for _ in range(times):
        answer = await ask(f"POST {REPO}/issues/1/comments", token, json={"body": "x"})
        assert (answer.status_code, answer.headers["retry-after"]) == (status, "7")
    assert repo.issues[1].comments == []
    good = await ask(f"POST {REPO}/issues/1/comments", token, json={"body": "x"})
    assert good.status_code == 201


async def test_after_commit(github: Any, ask: Any, repo: Any, token: str) -> None:
    """502 after the commit: the client sees a failure, the branch and the pull request exist."""
    github.branch(repo, "fix")
    newer = github.seed(repo, {"a": "1"}, branch="fix")
    github.faults.add("POST", "/git/refs", "after_commit_502")
    github.faults.add("POST", "/pulls", "after_commit_502")
    ref = {"ref": "refs/heads/prism/issue-1", "sha": newer}
    assert (await ask(f"POST {REPO}/git/refs", token, json=ref)).status_code == 502
    assert git_store.branch_sha(repo.path, "prism/issue-1") == newer
    body = {"title": "Fix", "head": "prism/issue-1", "base": "main"}
    assert (await ask(f"POST {REPO}/pulls", token, json=body)).status_code == 502
    [pull] = (await ask(f"GET {REPO}/pulls?head=acme:prism/issue-1", token)).json()
    assert pull["title"] == "Fix"


async def test_after_commit_of_nothing(github: Any, ask: Any, repo: Any, token: str) -> None:
    """What would have been refused anyway is refused as always; the order is used up."""
    github.faults.add("POST", "/pulls", "after_commit_502")
    body = {"title": "Fix", "head": "nowhere", "base": "main"}
    assert (await ask(f"POST {REPO}/pulls", token, json=body)).status_code == 422


async def test_late(github: Any, ask: Any, token: str) -> None:
    """Status 0 only makes the answer late."""
    github.faults.add("GET", "/repos/acme/demo$", 0, delay_s=0.2)
    began = time.monotonic()
    assert (await ask(f"GET {REPO}", token)).status_code == 200
    assert time.monotonic() - began >= 0.2


async def test_admin(github: Any, ask: Any, token: str) -> None:
    """Another process orders failures, reads the log and sees no token in it."""
    async with httpx.AsyncClient(base_url=f"{github.url}/_emulator", verify=False) as admin:
        order = {"method": "GET", "path_regex": "demo$", "what": 503, "times": 1}
        assert (await admin.post("/faults", json=order)).status_code == 201
        assert (await ask(f"GET {REPO}", token)).status_code == 503
        assert (await ask(f"GET {REPO}", token)).status_code == 200
        log = (await admin.get("/requests")).json()
        assert [(each["path"], each["status"]) for each in log] == [(REPO, 503), (REPO, 200)]
        assert log[0]["caller"].startswith("installation:")
        assert token not in str(log)
        for wrong in ({}, {"method": "GET", "path_regex": "(", "what": 1}, [1]):
            assert (await admin.post("/faults", json=wrong)).status_code == 422
        assert (await admin.post("/faults", json=order)).status_code == 201
        assert (await admin.delete("/faults")).status_code == 204
        assert (await ask(f"GET {REPO}", token)).status_code == 200
        assert (await admin.get("/violations")).json() == []
        hook = {"url": "http://127.0.0.1:9/x", "secret": "s"}
        assert (await admin.post("/webhook", json=hook)).status_code == 200
        assert (await admin.post("/install")).json()["installation_id"] in github.installations
        github.webhooks.settle()
        [delivery] = (await admin.get("/deliveries")).json()
        assert (delivery["event"], delivery["action"]) == ("installation", "created")


def test_order() -> None:
    """The oldest matching order is used first; "*" stands for any method."""
    faults = Faults()
    faults.add("*", "^/a", 500)
    faults.add("get", "^/a", 502)
    first, second = faults.take("GET", "/a"), faults.take("GET", "/a")
    assert first is not None
    assert second is not None
    assert (first.status, second.status) == (500, 502)
    assert faults.take("GET", "/a") is None
