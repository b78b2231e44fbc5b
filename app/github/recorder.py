"""Where a run notes its effects: bound to the run and the epoch that owns it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger import effects


@dataclass(frozen=True, slots=True)
class Recorder:
    """Notes effects of one run; raises `app.ledger.errors.Fenced` once the run is lost."""

    engine: AsyncEngine
    run_id: str
    epoch: int

    async def intend(self, kind: str, request: Any) -> None:
        """Note what is about to be done; `request` is JSON that identifies the effect."""
        hashed = effects.request_hash(request)
        await effects.intend(self.engine, self.run_id, self.epoch, kind, hashed)

    async def done(self, kind: str, remote_id: str | int, url: str) -> None:
        """Note where it is to be found."""
        await effects.done(self.engine, self.run_id, self.epoch, kind, str(remote_id), url)
