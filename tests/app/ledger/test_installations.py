"""Installations: what events told, last word first."""

from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import installations
from app.ledger.installations import Installation

ACME = Installation(7, "acme", "selected")


async def test_an_installation_is_written_over_by_later_events(ledger: AsyncEngine) -> None:
    """Suspended or deleted, the row stays; the last event counts."""
    assert await installations.load(ledger, 7) is None
    await installations.upsert(ledger, ACME)
    await installations.upsert(ledger, Installation(8, "beta", "all", deleted=True))
    await installations.upsert(ledger, replace(ACME, selection="all", suspended=True))
    known = await installations.load(ledger, 7)
    assert known is not None
    assert known.updated_at > 0
    assert replace(known, updated_at=0.0) == replace(ACME, selection="all", suspended=True)
    other = await installations.load(ledger, 8)
    assert other is not None
    assert (other.account, other.deleted) == ("beta", True)


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


async def test_a_repository_is_found_by_its_name(ledger: AsyncEngine) -> None:
    """In any case of letters, as long as it is covered by an installation that exists."""
    await installations.add_repositories(ledger, 7, {1: "Acme/Widgets"})
    assert await installations.find_repository(ledger, "acme/widgets") == (7, 1)
    assert await installations.find_repository(ledger, "acme/other") is None
    await installations.upsert(ledger, ACME)
    assert await installations.find_repository(ledger, "acme/WIDGETS") == (7, 1)
    await installations.upsert(ledger, replace(ACME, deleted=True))
    assert await installations.find_repository(ledger, "acme/widgets") is None
    await installations.upsert(ledger, ACME)
    await installations.remove_repositories(ledger, 7, [1])
    assert await installations.find_repository(ledger, "acme/widgets") is None
