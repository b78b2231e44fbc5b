"""Check runs as JSON."""

from typing import Any

from emulator.github.records import CheckRun, Issue, Repository
from emulator.github.shapes.accounts import app, moment_or_none
from emulator.github.shapes.repositories import api_url, page_url
from emulator.github.state import State, node_id


def check_run(state: State, repo: Repository, what: CheckRun) -> dict[str, Any]:
    """A check run with the open pull requests whose head it stands on."""
    url = f"{api_url(state, repo)}/check-runs/{what.id}"
    on = [
        _minimal(state, repo, each)
        for each in state.pulls(repo)
        if each.state == "open" and each.pull is not None and each.pull.head_sha == what.head_sha
    ]
    return {
        "id": what.id,
        "node_id": node_id("CheckRun", what.id),
        "name": what.name,
        "head_sha": what.head_sha,
        "external_id": what.external_id or "",
        "url": url,
        "html_url": f"{page_url(state, repo)}/runs/{what.id}",
        "details_url": what.details_url or f"{page_url(state, repo)}/runs/{what.id}",
        "status": what.status,
        "conclusion": what.conclusion,
        "started_at": moment_or_none(what.started_at),
        "completed_at": moment_or_none(what.completed_at),
        "output": {
            "title": what.output.get("title"),
            "summary": what.output.get("summary"),
            "text": what.output.get("text"),
            "annotations_count": len(what.output.get("annotations", ())),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": what.suite_id},
        "app": app(state),
        "pull_requests": on,
    }


def _minimal(state: State, repo: Repository, what: Issue) -> dict[str, Any]:
    assert what.pull is not None
    pull = what.pull
    there = {"id": repo.id, "name": repo.name, "url": api_url(state, repo)}
    return {
        "id": pull.id,
        "number": what.number,
        "url": f"{api_url(state, repo)}/pulls/{what.number}",
        "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": there},
        "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": there},
    }
