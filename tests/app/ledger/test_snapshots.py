"""Snapshots: the approved text stays what it was."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import snapshots
from app.ledger.snapshots import Snapshot

SNAPSHOT = Snapshot("s-2", 7, "T", "B", "ann", 5, "f" * 64, {"comments": ["<!-- x -->"]}, 1.5)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    title=st.text(st.characters(exclude_categories=["Cs"])),
    body=st.text(st.characters(exclude_categories=["Cs"])),
)
async def test_a_snapshot_comes_back_as_it_was(ledger: AsyncEngine, title: str, body: str) -> None:
    """Every character of title and body, and what cleaning had removed."""
    new = replace(SNAPSHOT, id=f"s-{hash((title, body))}"[:36], title=title, body=body)
    assert await snapshots.insert(ledger, new) == new.id
    assert await snapshots.load(ledger, new.id) == new


async def test_a_snapshot_is_never_replaced(ledger: AsyncEngine) -> None:
    """A delivery that is admitted again keeps the text that was approved."""
    await snapshots.insert(ledger, SNAPSHOT)
    await snapshots.insert(ledger, replace(SNAPSHOT, title="Edited later"))
    assert await snapshots.load(ledger, "s-2") == SNAPSHOT
    assert await snapshots.load(ledger, "s-3") is None
