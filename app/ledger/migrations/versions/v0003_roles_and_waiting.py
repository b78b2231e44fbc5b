"""Calls know their stage, role and tokens; a run may wait for the model provider."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ACTIVE = sa.text("state IN ('queued', 'running', 'publishing', 'waiting_provider')")


def upgrade() -> None:
    """Add the columns and count a waiting run among the active ones of its issue."""
    op.add_column("call", sa.Column("stage", sa.String(24), nullable=False, server_default=""))
    op.add_column("call", sa.Column("role", sa.String(40), nullable=False, server_default=""))
    op.add_column(
        "call", sa.Column("reserved_tokens", sa.Integer(), nullable=False, server_default="0")
    )
    op.drop_index("run_single_flight", table_name="run")
    op.create_index(
        "run_single_flight",
        "run",
        ["repository_id", "issue_number"],
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    )
