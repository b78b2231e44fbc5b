"""Alembic's entry: runs inside the transaction that `app.ledger.migrate` opened."""

from alembic import context

from app.ledger.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
