"""Money of a run over the call table (implements pipeline.services.Budget).

At every commit the settled cost plus the open reservations is at most the run's budget, across
parallel calls, restarts and take-overs.
"""

import math
import time
from dataclasses import dataclass

from sqlalchemy import ColumnElement, case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import reading, writing
from app.ledger.errors import LedgerError
from app.ledger.fence import check_owner
from app.ledger.tables import call
from pipeline.errors import BudgetExhausted
from pipeline.services import CallAddress
from pipeline.values import Usage

_CENT_FRACTION = 1e-9  # sums of floats: never refuse a call for the last bit


@dataclass(frozen=True, slots=True)
class SqlBudget:
    """The budget of one run, spent under one epoch: writes raise Fenced when it is lost."""

    engine: AsyncEngine
    run_id: str
    epoch: int

    async def reserve(self, address: CallAddress, request_hash: str, worst_usd: float) -> int:
        """Set `worst_usd` aside and return a handle.

        Raises BudgetExhausted when it does not fit, ValueError when it is no amount. What an
        earlier attempt at the same address left open is settled at its worst case first.
        """
        if not math.isfinite(worst_usd) or worst_usd < 0:
            raise ValueError(f"A reservation must be an amount in dollars, not {worst_usd!r}.")
        return await _reserve(self, address, request_hash, worst_usd)

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        """Replace the reservation by what the call really cost.

        A cost that cannot be (negative, not a number) counts as the reservation. Settling twice
        is an error and changes nothing.
        """
        await _settle(self, handle, usage, stop_reason)

    async def spent(self) -> Usage:
        """Everything settled so far, of earlier attempts and owners too."""
        return await spent_by(self.engine, self.run_id)


async def spent_by(engine: AsyncEngine, run_id: str) -> Usage:
    """What a run has cost so far, lost calls at their worst case included."""
    statement = select(
        func.count(),
        func.coalesce(func.sum(call.c.input_tokens), 0),
        func.coalesce(func.sum(call.c.cached_tokens), 0),
        func.coalesce(func.sum(call.c.output_tokens), 0),
        func.coalesce(func.sum(call.c.cost_usd), 0.0),
    ).where(call.c.run_id == run_id, call.c.state != "open")
    async with reading(engine) as conn:
        calls, given, cached, produced, cost = (await conn.execute(statement)).one()
    return Usage(int(calls), int(given), int(cached), int(produced), float(cost))


async def _reserve(
    budget: SqlBudget, address: CallAddress, request_hash: str, worst_usd: float
) -> int:
    async with writing(budget.engine) as conn:
        owned = await check_owner(conn, budget.run_id, budget.epoch)
        await _lose_earlier_attempts(conn, budget.run_id, address)
        committed = await _committed(conn, call.c.run_id == budget.run_id)
        fits = committed + worst_usd <= owned.budget_usd + _CENT_FRACTION
        handle = 0
        if fits:
            statement = call.insert().values(
                run_id=budget.run_id,
                installation_id=owned.installation_id,
                address=str(address),
                attempt=address.attempt,
                state="open",
                request_hash=request_hash,
                reserved_usd=worst_usd,
                opened_at=time.time(),
            )
            handle = (await conn.execute(statement.returning(call.c.id))).scalar_one()
    if not fits:
        raise BudgetExhausted(owned.budget_usd, committed)
    return handle


async def _settle(budget: SqlBudget, handle: int, usage: Usage, stop_reason: str) -> None:
    cost_is_real = math.isfinite(usage.cost_usd) and usage.cost_usd >= 0
    async with writing(budget.engine) as conn:
        await check_owner(conn, budget.run_id, budget.epoch)
        statement = (
            update(call)
            .where(call.c.id == handle, call.c.run_id == budget.run_id, call.c.state == "open")
            .values(
                state="done",
                cost_usd=usage.cost_usd if cost_is_real else call.c.reserved_usd,
                input_tokens=max(usage.input_tokens, 0),
                cached_tokens=max(usage.cached_tokens, 0),
                output_tokens=max(usage.output_tokens, 0),
                stop_reason=stop_reason[:40],
                settled_at=time.time(),
            )
        )
        if (await conn.execute(statement)).rowcount != 1:
            raise LedgerError(f"Reservation {handle} of run {budget.run_id} is not open.")


async def _lose_earlier_attempts(conn: AsyncConnection, run_id: str, address: CallAddress) -> None:
    statement = (
        update(call)
        .where(
            call.c.run_id == run_id,
            call.c.address == str(address),
            call.c.attempt < address.attempt,
            call.c.state == "open",
        )
        .values(state="lost", cost_usd=call.c.reserved_usd, settled_at=time.time())
    )
    await conn.execute(statement)


async def _committed(conn: AsyncConnection, condition: ColumnElement[bool]) -> float:
    amount = case((call.c.state == "open", call.c.reserved_usd), else_=call.c.cost_usd)
    statement = select(func.coalesce(func.sum(amount), 0.0)).where(condition)
    return float((await conn.execute(statement)).scalar_one())
