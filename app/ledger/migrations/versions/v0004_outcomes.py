"""Outcomes: what people made of the pull requests that were delivered."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_PULL = ("installation_id", "repository_id", "pull_number")


def upgrade() -> None:
    """Create the table `outcome`."""
    op.create_table(
        "outcome",
        sa.Column("run_id", sa.String(length=36), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("pull_number", sa.Integer(), nullable=False),
        sa.Column("head_commit", sa.String(length=64), nullable=False),
        sa.Column("delivered_at", sa.Float(), nullable=False),
        sa.Column("band", sa.String(length=8), nullable=False),
        sa.Column("lineages", sa.Integer(), nullable=False),
        sa.Column("agreeing", sa.Integer(), nullable=False),
        sa.Column("valid", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("eff", sa.Float(), nullable=False),
        sa.Column("tested", sa.Boolean(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=True),
        sa.Column("choice", sa.JSON(), nullable=False),
        sa.Column("outcome", sa.String(length=8), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("seen_at", sa.Float(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_outcome_run_id")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_outcome")),
        sa.UniqueConstraint(*_PULL, name=op.f(f"uq_outcome_{'_'.join(_PULL)}")),
    )
    op.create_index("outcome_by_end", "outcome", ["installation_id", "ended_at"], unique=False)
