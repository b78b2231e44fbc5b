"""The fence: every write of a run checks, in its own transaction, that the writer still owns it."""

from dataclasses import dataclass

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.ledger.errors import Fenced
from app.ledger.tables import ACTIVE_STATES, run


@dataclass(frozen=True, slots=True)
class Owned:
    """What a fenced write needs of the run it belongs to."""

    installation_id: int
    budget_usd: float


async def check_owner(conn: AsyncConnection, run_id: str, epoch: int) -> Owned:
    """Lock the run's row and return what it says; raises Fenced unless `epoch` owns it.

    Ownership ends with a higher epoch, with a release and with a terminal state. Epoch 0 is
    admission's: it owns a run until the first worker claims it.
    """
    statement = (
        select(run.c.installation_id, run.c.budget_usd)
        .where(
            run.c.id == run_id,
            run.c.epoch == epoch,
            run.c.state.in_(ACTIVE_STATES),
            or_(run.c.released.is_(False), run.c.epoch == 0),
        )
        .with_for_update()  # PostgreSQL; on SQLite the transaction holds the only write lock
    )
    row = (await conn.execute(statement)).one_or_none()
    if row is None:
        raise Fenced(run_id, epoch)
    return Owned(row.installation_id, row.budget_usd)
