"""Check runs: only an App makes them."""

from datetime import datetime
from typing import Any

from emulator.github import git_store
from emulator.github.api import Answer, Call, Endpoint
from emulator.github.errors import Refused, not_found
from emulator.github.records import CheckRun
from emulator.github.rest.commits import commit_of
from emulator.github.shapes import checks as shapes


def create_check(call: Call) -> Answer:
    """POST /repos/{owner}/{repo}/check-runs"""
    sha = str(call.body["head_sha"])
    if git_store.kind(call.repo.path, sha) != "commit":
        raise Refused(422, f"No commit found for SHA: {sha}")
    suites = [each.suite_id for each in call.repo.checks.values() if each.head_sha == sha]
    suite = suites[0] if suites else call.state.new_id()
    check = CheckRun(call.state.new_id(), suite, str(call.body["name"]), sha)
    check.started_at = call.state.now()
    _apply(call, check)
    call.repo.checks[check.id] = check
    return Answer(201, shapes.check_run(call.state, call.repo, check))


def _check(call: Call) -> CheckRun:
    found = call.repo.checks.get(call.path["check_run_id"])
    if found is None:
        raise not_found()
    return found


def update_check(call: Call) -> Answer:
    """PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}"""
    check = _check(call)
    check.name = str(call.body.get("name", check.name))
    _apply(call, check)
    return Answer(body=shapes.check_run(call.state, call.repo, check))


def _apply(call: Call, check: CheckRun) -> None:
    body: Any = call.body
    check.status = body.get("status", check.status)
    check.details_url = body.get("details_url", check.details_url)
    check.external_id = body.get("external_id", check.external_id)
    check.output = {**check.output, **body.get("output", {})}
    if "conclusion" in body:
        # A conclusion completes the run, whatever the status says.
        check.status, check.conclusion = "completed", body["conclusion"]
        check.completed_at = call.state.now()
    for name in ("started_at", "completed_at"):
        if name in body:
            setattr(check, name, datetime.fromisoformat(body[name]))


def get_check(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/check-runs/{check_run_id}"""
    return Answer(body=shapes.check_run(call.state, call.repo, _check(call)))


def list_checks(call: Call) -> Answer:
    """GET /repos/{owner}/{repo}/commits/{ref}/check-runs: the newest of each name, or all."""
    sha = commit_of(call.repo, str(call.path["ref"]))
    if sha is None:
        raise Refused(422, f"No commit found for SHA: {call.path['ref']}")
    query = call.query
    found = [
        each
        for each in reversed(call.repo.checks.values())
        if each.head_sha == sha
        and query.get("check_name") in (None, each.name)
        and query.get("status") in (None, each.status)
    ]
    if query.get("filter", "latest") == "latest":
        found = list({each.name: each for each in reversed(found)}.values())[::-1]
    return Answer(
        page_of=found,
        show=lambda each: shapes.check_run(call.state, call.repo, each),
        wrap=lambda page, total: {"total_count": total, "check_runs": page},
    )


_REPO = "/repos/{owner}/{repo}"
_CHECK = _REPO + "/check-runs/{check_run_id}"
_NEEDS = ("checks",)
ENDPOINTS = (
    Endpoint(
        f"POST {_REPO}/check-runs",
        create_check,
        permissions=_NEEDS,
        level="write",
        app_only=True,
    ),
    Endpoint(f"GET {_CHECK}", get_check, permissions=_NEEDS),
    Endpoint(f"PATCH {_CHECK}", update_check, permissions=_NEEDS, level="write", app_only=True),
    Endpoint(f"GET {_REPO}/commits/{{ref}}/check-runs", list_checks, permissions=_NEEDS),
)
