"""Start a run: fix the text that was approved and the commit it is about, once per issue."""

import hashlib
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import structlog

from app.admission.authorise import Admission, Outcome
from app.admission.cleaning import clean, clean_title
from app.admission.payload import Event, Issue
from app.github.comments import ensure_comment, reply_marker
from app.github.errors import GitHubError
from app.ledger import runs, snapshots
from app.ledger.runs import NewRun
from app.messages import render

if TYPE_CHECKING:
    from app.github.client import GitHubRepo

log = structlog.get_logger(__name__)


async def start_from_issue(
    admission: Admission, repo: "GitHubRepo", event: Event, guid: str
) -> Outcome:
    """A run for the issue, on title and body of this signed payload; nothing is read again."""
    return await _start(admission, repo, event, guid, event.issue.number, None)


async def start_from_pull(
    admission: Admission, repo: "GitHubRepo", event: Event, guid: str
) -> Outcome:
    """A run for the issue a pull request of ours is about, on the text approved before.

    The payload of a comment on a pull request carries that pull request, not the issue.
    """
    pull = await repo.get_pull(event.issue.number)
    number = issue_of_branch(pull.head_ref)
    earlier = None
    if number is not None:
        earlier = await runs.latest_for_issue(
            admission.engine, event.installation_id, event.repository_id, number
        )
    if number is None or earlier is None:
        return Outcome("ignored: not a pull request of Prism")
    return await _start(admission, repo, event, guid, number, earlier.snapshot_id)


def issue_of_branch(branch: str) -> int | None:
    """The issue a branch of ours is about, None for any other name."""
    head, _, rest = branch.partition("/issue-")
    number = rest.partition("-")[0]
    return int(number) if head == "prism" and number.isdecimal() and number.isascii() else None


async def _start(
    admission: Admission,
    repo: "GitHubRepo",
    event: Event,
    guid: str,
    number: int,
    snapshot_id: str | None,
) -> Outcome:
    info = await repo.info()
    if info.archived:
        return Outcome("refused: the repository is archived")
    base = await repo.get_ref(f"heads/{info.default_branch}")
    if base is None:
        text = render.empty_repository(info.default_branch, admission.settings.label)
        await ensure_comment(repo, number, reply_marker(f"empty-{short(guid)}"), text)
        return Outcome(f"refused: the branch {info.default_branch} has no commit")
    if snapshot_id is None:
        snapshot_id = await _keep_text(admission, event.issue, event.installation_id, guid)
    created = await runs.create(
        admission.engine,
        NewRun(
            delivery=guid,
            installation_id=event.installation_id,
            repository_id=event.repository_id,
            repository=info.full_name,
            issue_number=number,
            snapshot_id=snapshot_id,
            requested_by=event.sender.login,
            requested_by_id=event.sender.id,
            budget_usd=admission.settings.budget_usd,
            base_branch=info.default_branch,
            base_commit=base,
        ),
    )
    await _acknowledge(repo, event, created.run.id)
    word = "admitted" if created.is_new else "joined"
    return Outcome(f"{word}:{created.run.id}", (created.run.id,) if created.run.is_active else ())


async def _keep_text(admission: Admission, issue: Issue, installation_id: int, guid: str) -> str:
    title, body = clean_title(issue.title), clean(issue.body)
    raw = f"{issue.title or ''}\0{issue.body or ''}"
    return await snapshots.insert(
        admission.engine,
        snapshots.Snapshot(
            id=f"s-{short(guid)}",  # the same delivery, tried again, keeps the same row
            installation_id=installation_id,
            title=title.text or f"Issue {issue.number}",
            body=body.text,
            author=issue.author[:100],
            author_id=issue.author_id,
            sha256=hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest(),
            removed=[asdict(entry) for entry in (*title.removed, *body.removed)],
            taken_at=time.time(),
        ),
    )


async def _acknowledge(repo: "GitHubRepo", event: Event, run_id: str) -> None:
    """Show that it was seen; that this fails is no reason not to work."""
    try:
        if event.comment_id:
            await repo.react_to_comment(event.comment_id, "eyes")
        else:
            await repo.react_to_issue(event.issue.number, "eyes")
    except GitHubError as error:
        log.info("no reaction", run_id=run_id, error=str(error))


def short(guid: str) -> str:
    """A short name of a delivery, safe in markers and ids."""
    return hashlib.sha256(guid.encode()).hexdigest()[:16]
