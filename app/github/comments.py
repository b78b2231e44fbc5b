"""Comments of the App: found by a marker and by their author, made once, then edited."""

from typing import TYPE_CHECKING

from app.github.once import find_or_create
from app.github.recorder import Recorder
from app.github.values import Comment

if TYPE_CHECKING:
    from app.github.client import GitHubRepo


def run_marker(run_id: str) -> str:
    """The invisible first line of a run's status comment."""
    return f"<!-- prism:run={run_id} -->"


def reply_marker(name: str) -> str:
    """The invisible first line of a reply that is given once per thread or per occasion."""
    return f"<!-- prism:reply={name} -->"


async def find_comment(repo: "GitHubRepo", number: int, marker: str) -> Comment | None:
    """The oldest comment of this App with the marker; anybody can write a marker, so both count."""
    for comment in await repo.comments(number):
        if comment.ours and comment.body.startswith(marker):
            return comment
    return None


async def ensure_comment(repo: "GitHubRepo", number: int, marker: str, text: str) -> Comment:
    """The comment with the marker, made when there is none; an existing text is not changed."""
    return await find_or_create(
        lambda: find_comment(repo, number, marker),
        lambda: repo.create_comment(number, f"{marker}\n{text}"),
    )


async def ensure_status_comment(
    repo: "GitHubRepo", recorder: Recorder, issue_number: int, text: str
) -> Comment:
    """The run's one status comment; raises Fenced when the run belongs to somebody else."""
    await recorder.intend("status_comment", {"issue": issue_number})
    comment = await ensure_comment(repo, issue_number, run_marker(recorder.run_id), text)
    await recorder.done("status_comment", comment.id, comment.url)
    return comment
