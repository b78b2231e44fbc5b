"""The status comment: one per run, made once, edited now and then, never in the way."""

import asyncio
from functools import partial

import pytest

from app.github.comments import ensure_status_comment, find_comment, run_marker
from app.github.recorder import Recorder
from app.github.status import StatusBoard
from app.ledger import effects
from app.messages import render
from app.messages.facts import RunFacts
from pipeline.values import Usage


async def spent() -> Usage:
    """A tenth of the money."""
    return Usage(calls=3, cost_usd=0.5)


@pytest.fixture
async def recorder(ledger, claim):
    return Recorder(ledger, claim.run.id, claim.epoch)


def board_on(repo, recorder, issue, interval_s=0.0) -> StatusBoard:
    """A board with the product's own text."""
    facts = RunFacts(
        recorder.run_id, "acme/widgets", issue.number, "maintainer", "trunk", "1" * 40, 5.0
    )
    text = partial(render.status, facts)
    return StatusBoard(repo, recorder, issue.number, text, spent, interval_s)


async def settle(board: StatusBoard) -> None:
    """Wait until no edit is pending."""
    if board._pending is not None:
        await asyncio.wait({board._pending})


async def test_one_comment_follows_the_run(site, recorder):
    """Opening makes the comment, updates edit it, the end replaces it; one comment in all."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open("talk") as repo:
        board = board_on(repo, recorder, issue)
        await board.open()
        (comment,) = issue.comments
        assert "☐ environment" in comment.body
        await board.update("environment", 1, 1, "pip, 41 s")
        await settle(board)
        assert "✔ environment (pip, 41 s)" in comment.body
        await board.finish("The end.")
    assert [c.body for c in issue.comments] == [f"{run_marker(recorder.run_id)}\nThe end."]
    effect = await effects.load(recorder.engine, recorder.run_id, "status_comment")
    assert (effect.state, effect.remote_id) == ("done", str(comment.id))


async def test_a_restarted_worker_goes_on_with_the_same_comment(site, recorder):
    """A second board of the same run finds the comment of the first."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open("talk") as repo:
        await board_on(repo, recorder, issue).open()
        again = board_on(repo, recorder, issue)
        await again.open()
        await again.finish("The end.")
    assert len(issue.comments) == 1


@pytest.mark.parametrize("what", ["after_commit_502", 502])
async def test_a_lost_answer_makes_one_comment(site, recorder, what):
    """Whether the comment was made or not, there is one afterwards."""
    issue = site.hub.open_issue(site.repo, "t")
    site.hub.faults.add("POST", "/comments$", what)
    async with site.open("talk") as repo:
        await ensure_status_comment(repo, recorder, issue.number, "working")
    assert len(issue.comments) == 1


async def test_a_forged_marker_is_not_ours(site, recorder):
    """A person who copies the marker does not become the status comment."""
    issue = site.hub.open_issue(site.repo, "t")
    marker = run_marker(recorder.run_id)
    site.hub.comment(site.repo, issue.number, f"{marker}\nforged")
    async with site.open("talk") as repo:
        assert await find_comment(repo, issue.number, marker) is None
        made = await ensure_status_comment(repo, recorder, issue.number, "working")
        found = await find_comment(repo, issue.number, marker)
    assert found is not None
    assert found.id == made.id


async def test_many_updates_are_few_edits(site, recorder):
    """Fifty updates within the interval become one edit that shows the last of them."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open("talk") as repo:
        board = board_on(repo, recorder, issue, interval_s=0.2)
        await board.open()
        for done in range(50):
            await board.update("code", done, 50)
        await settle(board)
    assert len(site.requests("PATCH", "")) == 1
    assert "▸ write patches: 49 of 50" in issue.comments[0].body


async def test_progress_survives_every_failure(site, recorder):
    """GitHub down, the comment deleted: updates go on without an error, the end is written."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open("talk") as repo:
        board = board_on(repo, recorder, issue)
        await board.open()
        site.hub.faults.add("PATCH", "/issues/comments/", 403)
        await board.update("global", 1, 3)
        await settle(board)
        issue.comments.clear()
        await board.update("global", 2, 3)
        await settle(board)
        await board.finish("The end.")
    assert [c.body.splitlines()[1] for c in issue.comments] == ["The end."]


async def test_the_end_is_the_last_edit(site, recorder):
    """An edit that was still waiting never overwrites the final text."""
    issue = site.hub.open_issue(site.repo, "t")
    async with site.open("talk") as repo:
        board = board_on(repo, recorder, issue, interval_s=0.3)
        await board.open()
        await board.update("vote", 1, 1)
        await board.finish("The end.")
        await asyncio.sleep(0.4)
    assert issue.comments[0].body.endswith("The end.")
