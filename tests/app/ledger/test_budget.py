"""Money: settled cost plus open reservations never passes the budget, at any commit."""

import asyncio
import math
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import runs
from app.ledger.budget import SqlBudget, spent_by
from app.ledger.engine import reading
from app.ledger.errors import Fenced, LedgerError
from app.ledger.runs import Claim, NewRun
from app.ledger.tables import call
from pipeline.caps import Caps
from pipeline.errors import BudgetExhausted, ItemShareUsed
from pipeline.services import Budget, CallAddress
from pipeline.values import Usage


@pytest.fixture
def budget(ledger: AsyncEngine, claim: Claim) -> SqlBudget:
    """The budget of $5 of the claimed run."""
    return SqlBudget(ledger, claim.run.id, claim.epoch)


def _address(turn: int = 0, attempt: int = 1) -> CallAddress:
    return CallAddress("global", "G1", str(turn), attempt)


async def test_it_is_a_budget(budget: SqlBudget) -> None:
    """It has the shape that the model gateway expects."""
    as_protocol: Budget = budget
    handle = await as_protocol.reserve(_address(), "h", 1.0)
    await as_protocol.settle(handle, Usage(1, 100, 80, 20, 0.25), "end_turn")
    assert await as_protocol.spent() == Usage(1, 100, 80, 20, 0.25)


async def test_a_call_that_does_not_fit_is_refused_before_it_is_made(budget: SqlBudget) -> None:
    """Open reservations count, the refused call leaves no trace, settling makes room again."""
    handle = await budget.reserve(_address(0), "h", 4.0)
    with pytest.raises(BudgetExhausted) as caught:
        await budget.reserve(_address(1), "h", 1.01)
    assert (caught.value.limit_usd, caught.value.spent_usd) == (5.0, 4.0)
    await budget.reserve(_address(2), "h", 1.0)
    await budget.settle(handle, Usage(cost_usd=0.5), "end_turn")
    await budget.reserve(_address(3), "h", 3.5)
    assert await _committed(budget) == pytest.approx(5.0)


async def test_tokens_and_shares_are_limits_too(ledger: AsyncEngine, claim: Claim) -> None:
    """Reserved tokens count until the real ones are known; a stage and a role have their part."""
    caps = Caps(tokens=1000, shares={"global": 0.5, "judge": 0.1})
    budget = SqlBudget(ledger, claim.run.id, claim.epoch, caps)
    handle = await budget.reserve(_address(0), "h", 2.0, tokens=900, role="planner")
    with pytest.raises(BudgetExhausted, match="1000 tokens"):
        await budget.reserve(_address(1), "h", 0.1, tokens=101, role="planner")
    await budget.settle(handle, Usage(1, 100, 0, 10, 2.0), "end_turn")
    await budget.reserve(_address(1), "h", 0.5, tokens=890, role="planner")
    with pytest.raises(BudgetExhausted, match="share of global"):
        await budget.reserve(_address(2), "h", 0.1, role="planner")
    judge = CallAddress("synthesis", "S1", "judge")
    with pytest.raises(BudgetExhausted, match="share of judge"):
        await budget.reserve(judge, "h", 0.51, role="judge")
    await budget.reserve(judge, "h", 0.5, role="judge")


async def test_one_item_has_its_share(ledger: AsyncEngine, claim: Claim) -> None:
    """Settled or open, in whatever role and attempt; an item whose name begins alike is another."""
    budget = SqlBudget(ledger, claim.run.id, claim.epoch, Caps(item_share=0.3))
    handle = await budget.reserve(CallAddress("code", "L1.1", "0"), "h", 1.4, role="coder")
    await budget.settle(handle, Usage(1, 100, 0, 10, 0.5), "end_turn")
    await budget.reserve(CallAddress("code", "L1.1", "1", 2), "h", 1.0, role="judge")
    with pytest.raises(ItemShareUsed, match=r"\$1\.50"):
        await budget.reserve(CallAddress("code", "L1.1", "2"), "h", 0.2)
    for other in ("L1", "L1_1", "L1.10"):
        await budget.reserve(CallAddress("code", other, "0"), "h", 0.2)
    await budget.reserve(CallAddress("local", "L1.1", "0"), "h", 0.2)


async def test_cost_is_told_by_stage(budget: SqlBudget) -> None:
    """Each stage its calls; together they are what the run has cost."""
    for stage, usd in (("global", 0.2), ("code", 0.5), ("code", 0.25)):
        at = CallAddress(stage, "X", str(usd))
        handle = await budget.reserve(at, "h", 1.0, role="coder")
        await budget.settle(handle, Usage(1, 100, 80, 20, usd), "end_turn")
    await budget.reserve(CallAddress("verify", "exclusions", "x"), "h", 0.1)
    assert await budget.stages() == {
        "code": Usage(2, 200, 160, 40, 0.75),
        "global": Usage(1, 100, 80, 20, 0.2),
    }
    assert (await budget.spent()).cost_usd == pytest.approx(0.95)


async def test_parallel_calls_cannot_overspend(budget: SqlBudget) -> None:
    """Forty agents that ask at once get what fits, and not one call more."""
    asked = [budget.reserve(_address(turn), "h", 0.3) for turn in range(40)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    granted = [answer for answer in answers if isinstance(answer, int)]
    refused = [answer for answer in answers if isinstance(answer, BudgetExhausted)]
    assert (len(granted), len(refused)) == (16, 24)
    assert await _committed(budget) <= 5.0


async def test_what_a_crashed_owner_left_open_counts_in_full(
    budget: SqlBudget, ledger: AsyncEngine
) -> None:
    """It may have been paid; its owner cannot settle it any more."""
    handle = await budget.reserve(_address(), "h", 2.0)
    await runs.abandon(ledger, budget.run_id, budget.epoch, -1)
    claim = await runs.claim(ledger, budget.run_id, "worker-2", 60)
    assert claim is not None
    with pytest.raises(Fenced):
        await budget.settle(handle, Usage(cost_usd=0.1), "end_turn")
    later = SqlBudget(ledger, budget.run_id, claim.epoch)
    assert (await later.spent()).cost_usd == 2.0
    with pytest.raises(BudgetExhausted):
        await later.reserve(_address(attempt=2), "h", 3.01)
    with pytest.raises(LedgerError, match="not open"):
        await later.settle(handle, Usage(cost_usd=0.1), "end_turn")


async def test_what_an_earlier_attempt_left_open_counts_in_full(budget: SqlBudget) -> None:
    """An item that starts again within one owner does not hide the call it broke off."""
    await budget.reserve(_address(attempt=1), "h", 2.0)
    await budget.reserve(_address(attempt=2), "h", 1.0)
    assert (await budget.spent()).cost_usd == 2.0
    assert await _committed(budget) == 3.0


async def test_the_end_of_a_run_leaves_nothing_open(budget: SqlBudget, ledger: AsyncEngine) -> None:
    """A cancelled call counts in full once the run has ended."""
    await budget.reserve(_address(), "h", 2.0)
    await runs.finish(ledger, budget.run_id, budget.epoch, "failed", "x")
    assert (await spent_by(ledger, budget.run_id)).cost_usd == 2.0


@pytest.mark.parametrize("worst", [math.nan, math.inf, -1.0])
async def test_an_impossible_amount_is_refused(budget: SqlBudget, worst: float) -> None:
    """A price that is not known is no price: nothing is reserved."""
    with pytest.raises(ValueError, match="amount in dollars"):
        await budget.reserve(_address(), "h", worst)
    assert await _committed(budget) == 0.0


@pytest.mark.parametrize("cost", [math.nan, math.inf, -0.5])
async def test_an_impossible_cost_counts_as_the_reservation(budget: SqlBudget, cost: float) -> None:
    """Whatever an answer claims to have cost, money cannot come back."""
    handle = await budget.reserve(_address(), "h", 2.0)
    await budget.settle(handle, Usage(1, -5, -5, -5, cost), "end_turn")
    assert await budget.spent() == Usage(1, 0, 0, 0, 2.0)


async def test_a_reservation_is_settled_once(budget: SqlBudget) -> None:
    """A second settlement is an error and changes nothing."""
    handle = await budget.reserve(_address(), "h", 2.0)
    await budget.settle(handle, Usage(cost_usd=1.0), "end_turn")
    with pytest.raises(LedgerError, match="not open"):
        await budget.settle(handle, Usage(cost_usd=0.0), "end_turn")
    assert (await budget.spent()).cost_usd == 1.0


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "settle", "crash"]),
        st.floats(0, 3, allow_nan=False),
        st.integers(1, 4),
    ),
    max_size=12,
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
async def test_the_budget_holds_at_every_commit(
    ledger: AsyncEngine, new_run: Callable[..., NewRun], steps: list[tuple[str, float, int]]
) -> None:
    """I5: through parallel reservations, settlements, crashes and take-overs, in any order."""
    number = next(_numbers)
    run_id = (await runs.create(ledger, new_run(f"i5-{number}", number))).run.id
    claim = await runs.claim(ledger, run_id, "worker", 60)
    open_calls: dict[int, float] = {}
    for kind, amount, many in steps:
        if claim is None:
            break
        budget = SqlBudget(ledger, run_id, claim.epoch)
        if kind == "reserve":
            asked = [budget.reserve(_address(), "h", amount) for _ in range(many)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            open_calls |= {answer: amount for answer in answers if isinstance(answer, int)}
        elif kind == "settle" and open_calls:
            handle, reserved = open_calls.popitem()
            await budget.settle(handle, Usage(1, cost_usd=reserved / many), "end_turn")
        elif kind == "crash":
            await runs.abandon(ledger, run_id, claim.epoch, -1)
            claim = await runs.claim(ledger, run_id, "worker", 60)
            open_calls.clear()
        assert await _committed(budget) <= 5.0 + 1e-6
        assert (await budget.spent()).cost_usd <= 5.0 + 1e-6


_numbers = iter(range(1, 10_000))  # one database for all examples: an issue for each


async def _committed(budget: SqlBudget) -> float:
    """Settled cost and open reservations of a run, added up here and not by the ledger."""
    async with reading(budget.engine) as conn:
        rows = (await conn.execute(select(call).where(call.c.run_id == budget.run_id))).all()
    return sum(row.reserved_usd if row.state == "open" else row.cost_usd for row in rows)
