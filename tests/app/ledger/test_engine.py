"""The engine: how SQLite is opened, and that several processes can write."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import Now, open_ledger, reading, writing

ADD_ONE = """
import asyncio, sys
from sqlalchemy import text
from app.ledger.engine import open_ledger, writing

async def main():
    engine = open_ledger(sys.argv[1])
    for _ in range(50):
        async with writing(engine) as conn:
            value = (await conn.execute(text("SELECT value FROM counter"))).scalar_one()
            await conn.execute(text("UPDATE counter SET value = :v"), {"v": value + 1})
    await engine.dispose()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 10_000)],
)
async def test_sqlite_is_opened_for_durability(
    ledger: AsyncEngine, pragma: str, value: object
) -> None:
    """A commit is on the disk when it returns, and readers do not wait for writers."""
    async with reading(ledger) as conn:
        assert (await conn.execute(text(f"PRAGMA {pragma}"))).scalar_one() == value


async def test_processes_that_read_and_then_write_lose_nothing(ledger_url: str) -> None:
    """Read-then-write from three processes at once neither fails nor overwrites."""
    engine = open_ledger(ledger_url)
    async with writing(engine) as conn:
        await conn.execute(text("CREATE TABLE counter (value INTEGER)"))
        await conn.execute(text("INSERT INTO counter VALUES (0)"))
    children = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", ADD_ONE, ledger_url)
        for _ in range(3)
    ]
    assert [await child.wait() for child in children] == [0, 0, 0]
    async with reading(engine) as conn:
        assert (await conn.execute(text("SELECT value FROM counter"))).scalar_one() == 150
    await engine.dispose()


async def test_a_reader_does_not_wait_for_a_writer(ledger: AsyncEngine) -> None:
    """While a transaction is open for writing, reading answers with what was committed."""
    async with writing(ledger) as writer:
        await writer.execute(text("UPDATE snapshot SET title = 'changed'"))
        async with asyncio.timeout(2), reading(ledger) as reader:
            title = (await reader.execute(text("SELECT title FROM snapshot"))).scalar_one()
    assert title == "Title"


async def test_an_error_rolls_back(ledger: AsyncEngine) -> None:
    """Nothing of a failed transaction stays."""

    async def change_and_fail() -> None:
        async with writing(ledger) as conn:
            await conn.execute(text("UPDATE snapshot SET title = 'changed'"))
            await conn.execute(text("INSERT INTO effect (run_id) VALUES ('none')"))

    with pytest.raises(IntegrityError):
        await change_and_fail()
    async with reading(ledger) as conn:
        assert (await conn.execute(text("SELECT title FROM snapshot"))).scalar_one() == "Title"


async def test_a_cancelled_writer_leaves_the_ledger_usable(ledger: AsyncEngine) -> None:
    """Cancelled at any moment, a transaction is there whole or not at all, and holds no lock."""

    async def change(number: int) -> None:
        async with writing(ledger) as conn:
            await conn.execute(text("UPDATE snapshot SET title = :t"), {"t": f"a{number}"})
            await conn.execute(text("UPDATE snapshot SET body = :t"), {"t": f"a{number}"})

    for number in range(30):
        task = asyncio.create_task(change(number))
        await asyncio.sleep(number / 10_000)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await change(99)
    async with reading(ledger) as conn:
        row = (await conn.execute(text("SELECT title, body FROM snapshot"))).one()
    assert tuple(row) == ("a99", "a99")


async def test_an_error_never_shows_values(ledger: AsyncEngine) -> None:
    """Errors end up in logs, where bodies of deliveries must not be."""
    with pytest.raises(IntegrityError) as caught:
        async with writing(ledger) as conn:
            await conn.execute(
                text("INSERT INTO effect (run_id) VALUES (:v)"), {"v": "secret-text"}
            )
    assert "secret-text" not in str(caught.value)


async def test_now_is_the_same_second_everywhere(ledger: AsyncEngine) -> None:
    """The database's clock counts seconds since the epoch, with fractions, and moves on."""
    async with reading(ledger) as conn:
        first = (await conn.execute(select(Now()))).scalar_one()
        await asyncio.sleep(0.05)
        second = (await conn.execute(select(Now()))).scalar_one()
    assert 0.03 < second - first < 2
    assert "clock_timestamp()" in str(select(Now()).compile(dialect=postgresql.dialect()))


def test_the_ledger_loads_without_the_pipeline() -> None:
    """What the web process imports of the ledger knows no model and no sandbox."""
    program = (
        "import sys, app.web; "
        "heavy = {'pipeline', 'sandbox', 'docker', 'anthropic', 'githubkit', 'git'}; "
        "bad = heavy & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=Path.cwd(), check=False
    )
    assert done.returncode == 0, done.stderr
