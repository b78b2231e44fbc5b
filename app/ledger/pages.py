"""The stored page of a run; apart from the journal, which the web process must not import."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import reading
from app.ledger.tables import item


async def load_page(engine: AsyncEngine, run_id: str) -> str:
    """What the worker wrote of a run that has decided, as HTML; "" before that."""
    statement = select(item.c.output).where(
        item.c.run_id == run_id, item.c.stage == "publish", item.c.name == "page"
    )
    async with reading(engine) as conn:
        output = (await conn.execute(statement)).scalar_one_or_none()
    return str(output["html"]) if output else ""
