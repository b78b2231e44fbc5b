"""Money and tokens of a run over the call table (implements pipeline.services.Budget).

At every commit the settled cost plus the open reservations is at most the run's budget, across
parallel calls, restarts and take-overs.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import case, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.ledger.engine import reading, writing
from app.ledger.errors import LedgerError
from app.ledger.fence import check_owner
from app.ledger.tables import call
from pipeline.caps import Amount, Caps, require_room
from pipeline.errors import BudgetExhausted
from pipeline.services import CallAddress
from pipeline.values import Usage


@dataclass(frozen=True, slots=True)
class SqlBudget:
    """The budget of one run, spent under one epoch: writes raise Fenced when it is lost."""

    engine: AsyncEngine
    run_id: str
    epoch: int
    caps: Caps = field(default_factory=Caps)

    async def reserve(
        self,
        address: CallAddress,
        request_hash: str,
        worst_usd: float,
        *,
        tokens: int = 0,
        role: str = "",
    ) -> int:
        """Set `worst_usd` and `tokens` aside and return a handle.

        Raises BudgetExhausted when it does not fit, ValueError when it is no amount. What an
        earlier attempt at the same address left open is settled at its worst case first.
        """
        if not math.isfinite(worst_usd) or worst_usd < 0:
            raise ValueError(f"A reservation must be an amount in dollars, not {worst_usd!r}.")
        wanted = Amount(address.stage, role, worst_usd, tokens, address.of)
        return await _reserve(self, address, request_hash, wanted)

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        """Replace the reservation by what the call really cost.

        A cost that cannot be (negative, not a number) counts as the reservation. Settling twice
        is an error and changes nothing.
        """
        await _settle(self, handle, usage, stop_reason)

    async def spent(self) -> Usage:
        """Everything settled so far, of earlier attempts and owners too."""
        return await spent_by(self.engine, self.run_id)

    async def stages(self) -> dict[str, Usage]:
        """The same by stage, for those that made calls."""
        return await spent_by_stage(self.engine, self.run_id)


_SPENT = (
    func.count(),
    func.coalesce(func.sum(call.c.input_tokens), 0),
    func.coalesce(func.sum(call.c.cached_tokens), 0),
    func.coalesce(func.sum(call.c.output_tokens), 0),
    func.coalesce(func.sum(call.c.cost_usd), 0.0),
)


async def spent_by(engine: AsyncEngine, run_id: str) -> Usage:
    """What a run has cost so far, lost calls at their worst case included."""
    statement = select(*_SPENT).where(call.c.run_id == run_id, call.c.state != "open")
    async with reading(engine) as conn:
        return _usage((await conn.execute(statement)).one())


async def spent_by_stage(engine: AsyncEngine, run_id: str) -> dict[str, Usage]:
    """What each stage of a run has cost so far; the same sum as `spent_by`."""
    statement = (
        select(call.c.stage, *_SPENT)
        .where(call.c.run_id == run_id, call.c.state != "open")
        .group_by(call.c.stage)
        .order_by(call.c.stage)
    )
    async with reading(engine) as conn:
        return {row[0]: _usage(row[1:]) for row in await conn.execute(statement)}


def _usage(row: Sequence[Any]) -> Usage:
    calls, given, cached, produced, cost = row
    return Usage(int(calls), int(given), int(cached), int(produced), float(cost))


async def _reserve(
    budget: SqlBudget, address: CallAddress, request_hash: str, wanted: Amount
) -> int:
    async with writing(budget.engine) as conn:
        owned = await check_owner(conn, budget.run_id, budget.epoch)
        await _lose_earlier_attempts(conn, budget.run_id, address)
        room: BudgetExhausted | None = None
        handle = 0
        try:
            committed = await _committed(conn, budget.run_id, wanted.item)
            require_room(owned.budget_usd, budget.caps, committed, wanted)
        except BudgetExhausted as error:
            room = error  # raised after the commit: what was lost stays settled
        else:
            statement = call.insert().values(
                run_id=budget.run_id,
                installation_id=owned.installation_id,
                address=str(address),
                attempt=address.attempt,
                stage=wanted.stage,
                role=wanted.role[:40],
                state="open",
                request_hash=request_hash,
                reserved_usd=wanted.usd,
                reserved_tokens=wanted.tokens,
                opened_at=time.time(),
            )
            handle = (await conn.execute(statement.returning(call.c.id))).scalar_one()
    if room is not None:
        raise room
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


async def _committed(conn: AsyncConnection, run_id: str, item: str) -> list[Amount]:
    """Everything settled or set aside, lost calls as reserved.

    Summed by stage and role, apart for one item and all others.
    """
    is_its = case((call.c.address.startswith(f"{item}/", autoescape=True), item), else_="")
    used = call.c.input_tokens + call.c.output_tokens
    usd = case((call.c.state == "open", call.c.reserved_usd), else_=call.c.cost_usd)
    tokens = case((call.c.state == "done", used), else_=call.c.reserved_tokens)
    statement = (
        select(call.c.stage, call.c.role, func.sum(usd), func.sum(tokens), is_its)
        .where(call.c.run_id == run_id)
        .group_by(call.c.stage, call.c.role, is_its)
    )
    return [
        Amount(stage, role, float(cost), int(count), its)
        for stage, role, cost, count, its in await conn.execute(statement)
    ]
