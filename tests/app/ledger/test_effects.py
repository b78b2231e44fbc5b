"""Effects: announced before they are tried, found again after a crash."""

import asyncio

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import effects, runs
from app.ledger.effects import Effect, request_hash
from app.ledger.errors import EffectMismatch, LedgerError
from app.ledger.runs import Claim


async def test_an_effect_is_an_intent_until_it_is_done(ledger: AsyncEngine, claim: Claim) -> None:
    """The row says first what is meant, then where it is."""
    run_id, epoch = claim.run.id, claim.epoch
    assert await effects.load(ledger, run_id, "branch") is None
    meant = await effects.intend(ledger, run_id, epoch, "branch", "h")
    assert meant == Effect("branch", "h", "intent", None, None)
    await effects.done(ledger, run_id, epoch, "branch", "abc", "https://example.com/tree")
    found = await effects.load(ledger, run_id, "branch")
    assert found == Effect("branch", "h", "done", "abc", "https://example.com/tree")


async def test_the_next_owner_learns_what_was_meant_and_what_is_done(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """Announcing again returns the row as the crashed owner left it."""
    run_id = claim.run.id
    await effects.intend(ledger, run_id, claim.epoch, "branch", "h")
    await effects.intend(ledger, run_id, claim.epoch, "pull_request", "h")
    await effects.done(ledger, run_id, claim.epoch, "branch", "abc", "u")
    await runs.abandon(ledger, run_id, claim.epoch, -1)
    later = await runs.claim(ledger, run_id, "worker-2", 60)
    assert later is not None
    states = [
        (await effects.intend(ledger, run_id, later.epoch, kind, "h")).state
        for kind in ("branch", "pull_request")
    ]
    assert states == ["done", "intent"]


async def test_parallel_announcements_make_one_row(ledger: AsyncEngine, claim: Claim) -> None:
    """Both callers get the same effect."""
    asked = [
        effects.intend(ledger, claim.run.id, claim.epoch, "status_comment", "h") for _ in range(5)
    ]
    assert len(set(await asyncio.gather(*asked))) == 1


async def test_another_request_under_the_same_kind_is_a_bug(
    ledger: AsyncEngine, claim: Claim
) -> None:
    """It stops, and the first request stays as it was."""
    await effects.intend(ledger, claim.run.id, claim.epoch, "branch", "h")
    with pytest.raises(EffectMismatch):
        await effects.intend(ledger, claim.run.id, claim.epoch, "branch", "other")
    found = await effects.load(ledger, claim.run.id, "branch")
    assert found is not None
    assert found.request_hash == "h"


async def test_what_was_never_announced_cannot_be_done(ledger: AsyncEngine, claim: Claim) -> None:
    """The order intent, effect, done is kept."""
    with pytest.raises(LedgerError, match="never announced"):
        await effects.done(ledger, claim.run.id, claim.epoch, "branch", "1", "u")


def test_a_request_has_one_hash() -> None:
    """The order of keys does not matter, values do."""
    assert request_hash({"a": 1, "b": 2}) == request_hash({"b": 2, "a": 1})
    assert request_hash({"a": 1}) != request_hash({"a": 2})
