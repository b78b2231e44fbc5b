"""Installations: what events told, last word first."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import installations
from app.ledger.installations import Installation

ACME = Installation(7, "acme", "selected")


async def test_an_installation_is_written_over_by_later_events(ledger: AsyncEngine) -> None:
    """Suspended or deleted, it is not active; the row stays."""
    assert await installations.load(ledger, 7) is None
    await installations.upsert(ledger, ACME)
    await installations.upsert(ledger, Installation(8, "beta", "all"))
    assert [one.account for one in await installations.list_active(ledger)] == ["acme", "beta"]
    await installations.upsert(ledger, replace(ACME, suspended=True))
    await installations.upsert(ledger, Installation(8, "beta", "all", deleted=True))
    assert await installations.list_active(ledger) == []
    await installations.upsert(ledger, replace(ACME, selection="all"))
    (active,) = await installations.list_active(ledger)
    assert (active.installation_id, active.selection, active.suspended) == (7, "all", False)
    assert active.updated_at > 0


async def test_repositories_come_and_go(ledger: AsyncEngine) -> None:
    """Added, renamed, removed, added again; other installations are not touched."""
    await installations.add_repositories(ledger, 7, {1: "acme/a", 2**40: "acme/b"})
    await installations.add_repositories(ledger, 8, {1: "beta/a"})
    await installations.add_repositories(ledger, 7, {1: "acme/renamed"})
    assert await installations.repositories(ledger, 7) == {1: "acme/renamed", 2**40: "acme/b"}
    await installations.remove_repositories(ledger, 7, [1, 99])
    assert await installations.repositories(ledger, 7) == {2**40: "acme/b"}
    await installations.add_repositories(ledger, 7, {1: "acme/a"})
    assert await installations.repositories(ledger, 7) == {1: "acme/a", 2**40: "acme/b"}
    assert await installations.repositories(ledger, 8) == {1: "beta/a"}
