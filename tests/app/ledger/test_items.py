"""The journal: a finished item is never repeated, one in flight starts again."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import runs
from app.ledger.errors import NotStarted, OutputTooLarge
from app.ledger.items import MAX_OUTPUT_BYTES, SqlJournal, list_items
from app.ledger.runs import Claim
from pipeline.services import ItemRecord, Journal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture
def journal(ledger: AsyncEngine, claim: Claim) -> SqlJournal:
    """The journal of the claimed run."""
    return SqlJournal(ledger, claim.run.id, claim.epoch)


async def test_it_is_a_journal(journal: SqlJournal) -> None:
    """It has the shape that recipes expect."""
    as_protocol: Journal = journal
    assert await as_protocol.start("global", "G1") == ItemRecord(1, finished=False)


async def test_a_finished_item_gives_its_output_instead_of_a_new_attempt(
    journal: SqlJournal, ledger: AsyncEngine
) -> None:
    """However often it is started again, by later owners too."""
    await journal.start("global", "G1")
    await journal.finish("global", "G1", {"plan": ["a", None, 1.5]})
    await runs.release(ledger, journal.run_id, journal.epoch)
    claim = await runs.claim(ledger, journal.run_id, "worker-2", 60)
    assert claim is not None
    later = SqlJournal(ledger, journal.run_id, claim.epoch)
    for _ in range(2):
        record = await later.start("global", "G1")
        assert record == ItemRecord(1, finished=True, output={"plan": ["a", None, 1.5]})


async def test_an_item_in_flight_starts_again_and_counts(
    journal: SqlJournal, ledger: AsyncEngine
) -> None:
    """Its owner crashed: the next one is told that this is the second attempt."""
    await journal.start("code", "code:L1.2")
    await runs.abandon(ledger, journal.run_id, journal.epoch, -1)
    claim = await runs.claim(ledger, journal.run_id, "worker-2", 60)
    assert claim is not None
    later = SqlJournal(ledger, journal.run_id, claim.epoch)
    assert await later.start("code", "code:L1.2") == ItemRecord(2, finished=False)
    assert [item.attempts for item in await list_items(ledger, journal.run_id)] == [2]


async def test_items_are_told_apart_by_stage_name_and_run(
    journal: SqlJournal, ledger: AsyncEngine
) -> None:
    """The same name in another stage is another item."""
    await journal.start("global", "G1")
    await journal.finish("global", "G1", 1)
    assert (await journal.start("verify", "G1")).finished is False
    assert [item.stage for item in await list_items(ledger, journal.run_id)] == ["global", "verify"]
    assert await list_items(ledger, "r-other") == []


async def test_only_an_item_in_flight_is_finished(journal: SqlJournal) -> None:
    """Not one that was never started, and none twice: the first output stays."""
    with pytest.raises(NotStarted):
        await journal.finish("global", "G1", 1)
    await journal.start("global", "G1")
    await journal.finish("global", "G1", 1)
    with pytest.raises(NotStarted):
        await journal.finish("global", "G1", 2)
    assert (await journal.start("global", "G1")).output == 1


async def test_an_output_that_is_too_large_is_refused_before_it_is_written(
    journal: SqlJournal,
) -> None:
    """The item stays in flight and can be finished with less."""
    await journal.start("code", "code:G1")
    with pytest.raises(OutputTooLarge):
        await journal.finish("code", "code:G1", "x" * MAX_OUTPUT_BYTES)
    await journal.finish("code", "code:G1", "x")


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(output=JSON)
async def test_every_json_output_comes_back(
    journal: SqlJournal, ledger: AsyncEngine, output: object
) -> None:
    """What a recipe stores is what it gets, whatever characters are in it."""
    name = f"x{len(await list_items(ledger, journal.run_id))}"
    await journal.start("verify", name)
    await journal.finish("verify", name, output)
    assert (await journal.start("verify", name)).output == output
