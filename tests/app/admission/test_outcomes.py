"""The end of a pull request as GitHub tells it, and as it is found when nobody told."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import update

from app.admission.admit import admit
from app.admission.outcomes import ASK_AFTER_S, ask_open
from app.admission.payload import MalformedPayload
from app.intake.events import read_event
from app.ledger import outcomes, runs
from app.ledger.engine import writing
from app.ledger.outcomes import Seen
from app.ledger.tables import outcome
from app.worker import _ask_outcomes
from pipeline.choose.choice import Choice, Near
from pipeline.values import Confidence

CHOICE = Choice(Confidence("fair", 2, 3, 8, 12, 2.4, tested=True), (3,), Near(0.5, 0.6, 1.0), None)
BRANCH = "prism/issue-1"


@dataclass(frozen=True)
class Delivered:
    """A pull request of a run, by its number; `office` is between GitHub and ledger."""

    office: Any
    number: int

    async def told(self) -> str:
        """Let the newest delivery be decided; what the inbox says of it."""
        run_ids, text = await self.office.decide()
        assert run_ids == []
        return str(text)

    async def hows(self) -> list[str]:
        """What the ledger says of all pull requests."""
        return [each.how for each in await outcomes.list_all(self.office.ledger)]

    async def forget(self) -> None:
        """Six hours pass without a word from GitHub."""
        async with writing(self.office.ledger) as conn:
            before = outcome.c.asked_at - ASK_AFTER_S - 1
            await conn.execute(update(outcome).values(asked_at=before))

    async def ask(self) -> int:
        """Ask GitHub what became of it."""
        return await ask_open(self.office.ledger, self.office.admission.github)


@pytest.fixture
async def pull(office: Any) -> Delivered:
    """A run of issue 1 delivered a pull request and has ended."""
    hub, repo, ledger = office.hub, office.repo, office.ledger
    issue = hub.open_issue(repo, "It breaks")
    hub.add_label(repo, issue.number, "prism-fix")
    (run_id,), _ = await office.decide()
    claim = await runs.claim(ledger, run_id, "worker-1", 60)
    assert claim is not None
    office.branch(BRANCH)
    made = hub.open_pull(repo, "Fix", BRANCH, "Fixes #1", hub.bot, draft=True)
    head = made.pull.head_sha
    seen = Seen(made.number, head, is_open=True, is_merged=False, at=0.0)
    await outcomes.deliver(ledger, run_id, claim.epoch, head, seen, CHOICE)
    await runs.finish(ledger, run_id, claim.epoch, "done", "Pull request")
    return Delivered(office, made.number)


async def test_merged_as_it_was(pull: Delivered) -> None:
    """One row, no request to GitHub, and nothing is started or said."""
    pull.office.hub.merge_pull(pull.office.repo, pull.number)
    pull.office.hub.requests.clear()
    assert await pull.told() == "noted: pull request merged"
    assert await pull.hows() == ["merged"]
    assert pull.office.calls() == []


async def test_merged_after_somebody_pushed(pull: Delivered) -> None:
    """A commit on the branch that is not the delivered one is an edit."""
    pull.office.hub.seed(pull.office.repo, {"a.py": "x = 3\n"}, branch=BRANCH)
    pull.office.hub.merge_pull(pull.office.repo, pull.number)
    assert await pull.told() == "noted: pull request edited"


async def test_closed_and_reopened(pull: Delivered) -> None:
    """What was taken back by people is taken back here."""
    hub, repo = pull.office.hub, pull.office.repo
    hub.close_issue(repo, pull.number)
    assert await pull.told() == "noted: pull request closed"
    hub.reopen_issue(repo, pull.number)
    assert await pull.told() == "noted: pull request open"
    assert await pull.hows() == ["open"]


async def test_a_bot_that_merges_counts_as_well(pull: Delivered) -> None:
    """Merge queues merge what people approved; no other word of a bot is listened to."""
    hub = pull.office.hub
    hub.merge_pull(pull.office.repo, pull.number, hub.bot)
    assert hub.webhooks.deliveries[-1].payload["sender"]["type"] == "Bot"
    assert await pull.told() == "noted: pull request merged"


async def test_a_strangers_pull_request_is_ignored(pull: Delivered) -> None:
    """Also from a branch and with words like Prism's: the ledger knows which are its own."""
    office = pull.office
    office.branch("prism/issue-1-9")
    other = office.hub.open_pull(office.repo, "Fix", "prism/issue-1-9", "Prism-Run: r-1")
    office.hub.merge_pull(office.repo, other.number)
    office.hub.requests.clear()
    assert await pull.told() == "ignored: no pull request of ours"
    assert (await pull.hows(), office.calls()) == (["open"], [])


@pytest.mark.parametrize("missing", ["head", "updated_at", "state", "number"])
async def test_a_payload_that_cannot_be_read_is_no_outcome(pull: Delivered, missing: str) -> None:
    """It is told apart from one that is not for us, and nothing is changed."""
    office = pull.office
    office.hub.close_issue(office.repo, pull.number)
    del office.hub.webhooks.deliveries[-1].payload["pull_request"][missing]
    guid = await office.receive()
    with pytest.raises(MalformedPayload):
        await admit(office.admission, guid)
    assert await pull.hows() == ["open"]


async def test_intake_takes_what_the_emulated_github_sends(pull: Delivered) -> None:
    """The signed body is one that leaves a row in the inbox."""
    office = pull.office
    office.hub.merge_pull(office.repo, pull.number)
    body = json.dumps(office.hub.webhooks.deliveries[-1].payload).encode()
    event = read_event("pull_request", "g", body, "prism-fix")
    assert event is not None
    assert (event.action, event.repository_id) == ("closed", office.repo.id)


@pytest.mark.parametrize(("end", "how"), [("merge_pull", "merged"), ("close_issue", "closed")])
async def test_a_missed_webhook_is_made_up_for(pull: Delivered, end: str, how: str) -> None:
    """Hours later GitHub is asked, once; an answer that it is open changes nothing."""
    office = pull.office
    assert await pull.ask() == 0
    await pull.forget()
    office.hub.requests.clear()
    assert await pull.ask() == 0
    assert office.calls()[-1].endswith(f"/pulls/{pull.number}")
    getattr(office.hub, end)(office.repo, pull.number)
    assert await pull.ask() == 0
    await pull.forget()
    assert await pull.ask() == 1
    assert await pull.hows() == [how]


async def test_one_that_may_not_be_seen_holds_up_nobody(pull: Delivered) -> None:
    """Access that was taken away may come back: it is asked again hours later."""
    hub = pull.office.hub
    hub.merge_pull(pull.office.repo, pull.number)
    await pull.forget()
    hub.faults.add("GET", r"/pulls/\d+$", 404)
    assert await pull.ask() == 0
    await pull.forget()
    assert await pull.ask() == 1


async def test_the_worker_asks_by_itself(pull: Delivered, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every now and then; a GitHub that is away is waited for."""
    office = pull.office
    office.hub.merge_pull(office.repo, pull.number)
    monkeypatch.setattr("app.worker.PRUNE_EVERY_S", 0.01)
    office.hub.faults.add("GET", r"/pulls/\d+$", 500, times=4)  # the retries, too
    await pull.forget()
    task = asyncio.create_task(_ask_outcomes(office.ledger, office.admission.github))
    try:
        async with asyncio.timeout(20):
            while await pull.hows() != ["merged"]:
                await pull.forget()
                await asyncio.sleep(0.05)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
