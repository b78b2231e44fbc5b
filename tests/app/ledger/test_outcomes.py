"""Outcomes: one row for each pull request, GitHub's newest word, gone with the installation."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import installations, outcomes, runs
from app.ledger.engine import reading, writing
from app.ledger.errors import Fenced
from app.ledger.installations import Installation
from app.ledger.outcomes import Seen, how_it_ended
from app.ledger.runs import Claim, NewRun
from app.ledger.tables import outcome
from pipeline.choose.calibration import Outcome
from pipeline.choose.choice import Choice, Near
from pipeline.values import Confidence

OURS, THEIRS = "a" * 40, "b" * 40
TRUST = Confidence("fair", 2, 3, 8, 12, 2.4, True, 0.64, 83)
CHOICE = Choice(TRUST, (3, 1), Near(0.5, 0.6, 1.0), Near(0.1, 0.2, 1.0))
OPEN = Seen(9, OURS, is_open=True, is_merged=False, at=100.0)
MERGED = Seen(9, OURS, is_open=False, is_merged=True, at=200.0)
PLACE = (7, 2**40)


async def delivered(engine: AsyncEngine, claim: Claim, seen: Seen = OPEN) -> None:
    """The pull request of a claimed run is there."""
    await outcomes.deliver(engine, claim.run.id, claim.epoch, OURS, seen, CHOICE)


async def word(engine: AsyncEngine) -> str | None:
    """What the only row says."""
    async with reading(engine) as conn:
        return (await conn.execute(select(outcome.c.outcome))).scalar_one()


@pytest.mark.parametrize(
    ("seen", "how"),
    [
        (OPEN, "open"),
        (MERGED, "merged"),
        (replace(MERGED, head_commit=THEIRS), "edited"),
        (replace(MERGED, is_merged=False), "closed"),
        (replace(MERGED, is_merged=False, head_commit=THEIRS), "closed"),
    ],
)
def test_what_people_made_of_it(seen: Seen, how: str) -> None:
    """Merged counts as it was delivered; anybody's commit on top is an edit."""
    assert how_it_ended(OURS, seen) == how


async def test_a_row_holds_what_the_choice_was_made_of(ledger: AsyncEngine, claim: Claim) -> None:
    """Numbers and no text; delivered twice it is one row that nothing changes."""
    await delivered(ledger, claim)
    await outcomes.note(ledger, *PLACE, MERGED)
    again = replace(CHOICE, confidence=replace(TRUST, eff=9.0))
    await outcomes.deliver(ledger, claim.run.id, claim.epoch, OURS, OPEN, again)
    async with reading(ledger) as conn:
        row = (await conn.execute(select(outcome))).one()
    assert (row.pull_number, row.head_commit, row.outcome) == (9, OURS, "merged")
    assert (row.band, row.lineages, row.agreeing) == ("fair", 2, 3)
    assert (row.valid, row.total, row.eff, row.tested, row.probability) == (8, 12, 2.4, True, 0.64)
    assert row.choice == {
        "groups": [3, 1],
        "winner": {"edit": 0.5, "symbols": 0.6, "files": 1.0},
        "runner_up": {"edit": 0.1, "symbols": 0.2, "files": 1.0},
    }


async def test_each_generation_has_its_own(
    ledger: AsyncEngine, claim: Claim, new_run: Callable[..., NewRun]
) -> None:
    """A run that somebody asked for again does not touch the first one's row."""
    await delivered(ledger, claim, replace(MERGED, is_merged=False))
    await runs.finish(ledger, claim.run.id, claim.epoch, "done", "Pull request #9")
    second = await runs.create(ledger, new_run("d-2"))
    later = await runs.claim(ledger, second.run.id, "worker-1", 60)
    assert later is not None
    await delivered(ledger, later, replace(OPEN, number=11))
    assert await outcomes.note(ledger, *PLACE, replace(MERGED, number=11)) == "merged"
    assert [each.how for each in await outcomes.list_all(ledger)] == ["closed", "merged"]


async def test_a_worker_that_lost_the_run_writes_nothing(ledger: AsyncEngine, claim: Claim) -> None:
    """Of two that believe in their claim only the later one may."""
    await runs.abandon(ledger, claim.run.id, claim.epoch, -1)
    assert await runs.claim(ledger, claim.run.id, "worker-2", 60) is not None
    with pytest.raises(Fenced):
        await delivered(ledger, claim)
    assert await outcomes.list_all(ledger) == []


async def test_one_that_people_closed_before_it_was_noted(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """The next worker finds the pull request closed, and its row says so."""
    await delivered(ledger, claim, replace(MERGED, is_merged=False))
    assert await word(ledger) == "closed"


@pytest.mark.parametrize("other", [(8, 2**40, 9), (7, 5, 9), (7, 2**40, 10)])
async def test_pull_requests_of_others_are_none_of_ours(
    ledger: AsyncEngine, claim: Claim, other: tuple[int, int, int]
) -> None:
    """Another installation's, repository's or number: nothing is written."""
    await delivered(ledger, claim)
    installation_id, repository_id, number = other
    seen = replace(MERGED, number=number)
    assert await outcomes.note(ledger, installation_id, repository_id, seen) is None
    assert await word(ledger) is None


async def test_reopening_takes_the_outcome_back(ledger: AsyncEngine, claim: Claim) -> None:
    """Until it is closed again, however late the first word of it arrives once more."""
    await delivered(ledger, claim)
    closed = replace(MERGED, is_merged=False)
    assert await outcomes.note(ledger, *PLACE, closed) == "closed"
    assert await outcomes.note(ledger, *PLACE, replace(OPEN, at=300.0)) == "open"
    assert await outcomes.finished(ledger, 7) == ()
    assert await outcomes.note(ledger, *PLACE, closed) == "open"
    assert await outcomes.note(ledger, *PLACE, replace(MERGED, at=400.0)) == "merged"


words = st.lists(
    st.builds(
        lambda at, merged, open_: Seen(9, OURS, open_, merged and not open_, float(at)),
        *(st.integers(200, 999), st.booleans(), st.booleans()),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda each: each.at,
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(told=words, twice=st.booleans())
async def test_the_newest_word_counts_in_whatever_order_it_arrives(
    ledger: AsyncEngine, claim: Claim, told: list[Seen], twice: bool
) -> None:
    """Deliveries come late, in any order, and again."""
    async with writing(ledger) as conn:
        await conn.execute(outcome.delete())
    await delivered(ledger, claim)
    for each in told * (1 + twice):
        await outcomes.note(ledger, *PLACE, each)
    newest = max(told, key=lambda each: each.at)
    wanted = how_it_ended(OURS, newest)
    assert await word(ledger) == (None if wanted == "open" else wanted)


async def test_what_a_calibration_is_made_of(
    ledger: AsyncEngine, claim: Claim, new_run: Callable[..., NewRun]
) -> None:
    """Of this installation, what has ended, newest first; right is merged as it was."""
    await delivered(ledger, claim)
    for number in (1, 2):
        created = await runs.create(ledger, new_run(f"d-{number + 1}", number))
        later = await runs.claim(ledger, created.run.id, "worker-1", 60)
        assert later is not None
        head = (OURS, THEIRS)[number - 1]
        seen = replace(MERGED, number=number, head_commit=head, at=200.0 + number)
        await delivered(ledger, later, seen)
    share = 8 / 12
    assert await outcomes.finished(ledger, 7) == (
        Outcome(2.4, share, right=False),
        Outcome(2.4, share, right=True),
    )
    assert await outcomes.finished(ledger, 8) == ()


@pytest.mark.parametrize("away", [{"deleted": True}, {"suspended": True}, {}])
async def test_open_ones_are_asked_about_now_and_then(
    ledger: AsyncEngine, claim: Claim, away: dict[str, bool]
) -> None:
    """Not at once, not twice, and not while the installation is away."""
    await installations.upsert(ledger, Installation(7, "acme", "all", **away))
    await delivered(ledger, claim)
    assert await outcomes.take_open(ledger, 3600.0, 9) == []
    async with writing(ledger) as conn:
        await conn.execute(update(outcome).values(asked_at=outcome.c.asked_at - 4000))
    found = await outcomes.take_open(ledger, 3600.0, 9)
    assert [(each.repository, each.number) for each in found] == (
        [] if away else [("acme/widgets", 9)]
    )
    assert await outcomes.take_open(ledger, 3600.0, 9) == []


async def test_the_rows_of_a_gone_installation_are_deleted(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """As long as it is there they stay, whatever their age: they quote nothing."""
    await installations.upsert(ledger, Installation(7, "acme", "all"))
    await delivered(ledger, claim)
    assert await outcomes.prune(ledger) == 0
    await installations.upsert(ledger, Installation(7, "acme", "all", deleted=True))
    assert await outcomes.prune(ledger) == 1
    assert await outcomes.list_all(ledger) == []
