"""A worker process for tests: real ledger, real Redis, a body that records items and takes time.

Reads Prism's settings from the environment. Every item that is really worked on appends a line
`<item> <epoch>` to the file named by WORK_LOG; each takes ITEM_SECONDS.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from app.jobs.contract import RunEnd, WorkerContext
from app.jobs.embedded import redis_url
from app.jobs.worker import run_worker
from app.ledger import inbox, runs, snapshots
from app.ledger.engine import open_ledger
from app.ledger.items import SqlJournal
from app.ledger.runs import Claim, NewRun
from app.ledger.snapshots import Snapshot
from app.settings import read_settings

ITEMS = ("G1", "G2", "G3", "L1.1")
settings = read_settings()
engine = open_ledger(settings.database)
item_s = float(os.environ["ITEM_SECONDS"])
work_log = Path(os.environ["WORK_LOG"])


async def admit(guid: str) -> Sequence[str]:
    """Make a run of issue 3."""
    await snapshots.insert(engine, Snapshot("s-9", 7, "T", "B", "ann", 5, "0" * 64, {}, 0.0))
    new = NewRun(guid, 7, 1, "acme/widgets", 3, "s-9", "ann", 5, 5.0)
    created = await runs.create(engine, new)
    await inbox.mark(engine, guid, f"admitted:{created.run.id}")
    return [created.run.id]


def note(line: str) -> None:
    """Append to the work log."""
    with work_log.open("a") as log:
        log.write(line)


async def work(claim: Claim) -> RunEnd:
    """Go through the items; a finished one is not worked on again."""
    journal = SqlJournal(engine, claim.run.id, claim.epoch)
    for item in ITEMS:
        if not (await journal.start("global", item)).finished:
            note(f"{item} {claim.epoch}\n")
            await asyncio.sleep(item_s)
            await journal.finish("global", item, item)
    return RunEnd("done", f"ended by epoch {claim.epoch}")


async def main() -> None:
    """Work until SIGTERM."""
    with redis_url(settings) as url:
        await run_worker(settings, engine, url, WorkerContext(admit, work))
    await engine.dispose()


if __name__ == "__main__":
    asyncio.run(main())
