"""Migrations: they end at the tables the program was written for."""

import asyncio
import re
from importlib.resources import files
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_mock_engine, text
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.engine import open_ledger, reading, writing
from app.ledger.errors import NotMigrated
from app.ledger.migrate import migrate, newest_version, require_migrated
from app.ledger.tables import metadata


async def _schema(engine: AsyncEngine) -> dict[str, list[str]]:
    """The parts of each DDL statement by name, in any order: names, types, keys, conditions."""
    statement = text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    async with reading(engine) as conn:
        rows = (await conn.execute(statement)).all()
    return {
        row.name: sorted(" ".join(part.split()) for part in re.split(r"[(),]", row.sql))
        for row in rows
        if row.name not in {"alembic_version", "sqlite_sequence"}
    }


async def test_migrating_gives_the_tables_of_the_program(
    ledger: AsyncEngine, tmp_path: Path
) -> None:
    """Every table, column, key and index is the one that tables.py declares."""
    declared = open_ledger(f"sqlite+aiosqlite:///{tmp_path / 'declared.db'}")
    async with writing(declared) as conn:
        await conn.run_sync(metadata.create_all)
    assert await _schema(ledger) == await _schema(declared)
    await declared.dispose()


async def test_alembic_sees_nothing_left_to_do(ledger: AsyncEngine) -> None:
    """An automatic comparison proposes no further migration."""

    def differences(conn: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(conn), metadata))

    async with writing(ledger) as conn:
        assert await conn.run_sync(differences) == []


async def test_processes_that_start_together_migrate_once(ledger_url: str) -> None:
    """Web process and worker may bring the same new database up to date at the same time."""
    engines = [open_ledger(ledger_url) for _ in range(4)]
    await asyncio.gather(*(migrate(engine) for engine in engines))
    for engine in engines:
        await require_migrated(engine)
        await engine.dispose()


async def test_migrating_again_changes_nothing(ledger: AsyncEngine) -> None:
    """Rows stay when the tables are there already."""
    await migrate(ledger)
    async with reading(ledger) as conn:
        assert (await conn.execute(text("SELECT count(*) FROM snapshot"))).scalar_one() == 1


@pytest.mark.parametrize("found", [None, "0000"])
async def test_another_version_is_noticed(ledger_url: str, found: str | None) -> None:
    """A database of no or of another version is reported, with both versions."""
    engine = open_ledger(ledger_url)
    if found is not None:
        async with writing(engine) as conn:
            await conn.execute(text("CREATE TABLE alembic_version (version_num TEXT)"))
            await conn.execute(text(f"INSERT INTO alembic_version VALUES ('{found}')"))
    with pytest.raises(NotMigrated) as caught:
        await require_migrated(engine)
    assert (caught.value.found, caught.value.wanted) == (found, newest_version())
    await engine.dispose()


def test_migrations_are_part_of_the_package() -> None:
    """They lie inside the package as modules, so that an installed Prism has them."""
    versions = files("app.ledger.migrations.versions")
    assert any(entry.name.startswith("v0001") for entry in versions.iterdir())


def test_the_tables_exist_in_postgresql_words() -> None:
    """Ids of GitHub fit, and single flight is a partial index there, too."""
    lines: list[str] = []
    engine = create_mock_engine(
        "postgresql+asyncpg://",
        lambda sql, *_, **__: lines.append(str(sql.compile(dialect=engine.dialect))),
    )
    metadata.create_all(engine, checkfirst=False)
    ddl = " ".join(" ".join(lines).split())
    assert "repository_id BIGINT" in ddl
    assert "UNIQUE INDEX run_single_flight" in ddl
    assert "WHERE state IN ('queued', 'running', 'publishing', 'waiting_provider')" in ddl


async def test_the_tables_of_a_newer_program_are_left_alone(ledger_url: str) -> None:
    """A version nobody here knows is named, and neither upgraded nor touched."""
    engine = open_ledger(ledger_url)
    async with writing(engine) as conn:
        await conn.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        await conn.execute(text("INSERT INTO alembic_version VALUES ('v9999')"))
    with pytest.raises(NotMigrated, match="newer"):
        await migrate(engine)
    async with reading(engine) as conn:
        assert (
            await conn.execute(text("SELECT version_num FROM alembic_version"))
        ).scalar() == "v9999"
    await engine.dispose()
