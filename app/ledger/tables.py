"""The tables of the ledger: what Prism knows, in one place. Redis may be wiped at any time.

Times are UTC seconds since the epoch as floats; money is US dollars. Every row of an
organisation carries its installation id.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

# Constraints with fixed names can be changed by later migrations on every database.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
    }
)

ACTIVE_STATES = ("queued", "running", "publishing", "waiting_provider")
TERMINAL_STATES = (
    *("done", "no_fix", "rejected", "refused", "no_environment", "budget_exhausted"),
    *("cancelled", "failed", "dead"),
)
_IS_ACTIVE = f"state IN ({', '.join(map(repr, ACTIVE_STATES))})"

inbox = Table(
    "inbox",
    metadata,
    Column("guid", String(64), primary_key=True),
    Column("event", String(64), nullable=False),
    Column("action", String(64), nullable=False),
    Column("semantic_key", String(128), nullable=False, unique=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger),
    Column("body", LargeBinary, nullable=False),  # zlib of the signed bytes
    Column("received_at", Float, nullable=False),
    Column("processed_at", Float),
    Column("attempts", Integer, nullable=False, default=0),
    Column("lease_until", Float, nullable=False, default=0.0),  # not to be tried before
    Column("outcome", String(200)),  # admitted:<run>, ignored:…, refused:…, poison:…
)
Index("inbox_unprocessed", inbox.c.processed_at, inbox.c.received_at)

installation = Table(
    "installation",
    metadata,
    Column("installation_id", BigInteger, primary_key=True, autoincrement=False),
    Column("account", String(200), nullable=False),
    Column("selection", String(16), nullable=False),  # all | selected
    Column("suspended", Boolean, nullable=False, default=False),
    Column("deleted", Boolean, nullable=False, default=False),
    Column("updated_at", Float, nullable=False),
)

installation_repository = Table(
    "installation_repository",
    metadata,
    Column("installation_id", BigInteger, primary_key=True, autoincrement=False),
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("full_name", String(300), nullable=False),
    Column("removed", Boolean, nullable=False, default=False),
)

snapshot = Table(
    "snapshot",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("title", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("author", String(100), nullable=False),
    Column("author_id", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("removed", JSON, nullable=False),  # what cleaning took out, for the status comment
    Column("taken_at", Float, nullable=False),
)

run = Table(
    "run",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("repository", String(300), nullable=False),  # owner/name as delivered
    Column("issue_number", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("branch", String(200), nullable=False),
    Column("snapshot_id", String(36), ForeignKey("snapshot.id"), nullable=False),
    Column("requested_by", String(100), nullable=False),
    Column("requested_by_id", BigInteger, nullable=False),
    Column("base_branch", String(250), nullable=False, default=""),
    Column("base_commit", String(64), nullable=False, default=""),
    Column("state", String(24), nullable=False),
    Column("stage", String(24), nullable=False, default=""),
    Column("epoch", Integer, nullable=False, default=0),
    Column("worker", String(100)),
    Column("lease_until", Float, nullable=False, default=0.0),
    Column("released", Boolean, nullable=False, default=True),
    Column("crash_count", Integer, nullable=False, default=0),
    Column("cancel_requested", Boolean, nullable=False, default=False),
    Column("budget_usd", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("outcome", Text),  # one sentence for people
    UniqueConstraint("installation_id", "repository_id", "issue_number", "generation"),
)
Index(
    "run_single_flight",
    run.c.repository_id,
    run.c.issue_number,
    unique=True,
    sqlite_where=text(_IS_ACTIVE),
    postgresql_where=text(_IS_ACTIVE),
)

item = Table(
    "item",
    metadata,
    Column("run_id", String(36), ForeignKey("run.id"), primary_key=True),
    Column("stage", String(24), primary_key=True),
    Column("name", String(64), primary_key=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("status", String(16), nullable=False),  # started | finished
    Column("attempts", Integer, nullable=False),
    Column("output", JSON),
    Column("started_at", Float, nullable=False),
    Column("finished_at", Float),
)

call = Table(
    "call",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(36), ForeignKey("run.id"), nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("address", String(120), nullable=False),  # stage/item/turn
    Column("attempt", Integer, nullable=False),
    Column("state", String(8), nullable=False),  # open | done | lost
    Column("request_hash", String(64), nullable=False),
    Column("reserved_usd", Float, nullable=False),
    Column("cost_usd", Float, nullable=False, default=0.0),
    Column("input_tokens", Integer, nullable=False, default=0),
    Column("cached_tokens", Integer, nullable=False, default=0),
    Column("output_tokens", Integer, nullable=False, default=0),
    Column("stop_reason", String(40)),
    Column("opened_at", Float, nullable=False),
    Column("settled_at", Float),
    Column("stage", String(24), nullable=False, server_default=""),
    Column("role", String(40), nullable=False, server_default=""),
    Column("reserved_tokens", Integer, nullable=False, server_default="0"),
)
Index("call_by_run", call.c.run_id, call.c.state)

effect = Table(
    "effect",
    metadata,
    Column("run_id", String(36), ForeignKey("run.id"), primary_key=True),
    Column("kind", String(40), primary_key=True),  # status_comment | branch | pull_request | reply
    Column("installation_id", BigInteger, nullable=False),
    Column("request_hash", String(64), nullable=False),
    Column("state", String(8), nullable=False),  # intent | done
    Column("remote_id", String(100)),
    Column("url", Text),
    Column("recorded_at", Float, nullable=False),
)

record = Table(
    "record",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", String(36), ForeignKey("run.id"), nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),  # call | tool | evidence
    Column("address", String(160), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),  # zlib of the JSON of pipeline.recording
    Column("recorded_at", Float, nullable=False),
)
Index("record_by_run", record.c.run_id, record.c.id)
Index("record_by_age", record.c.recorded_at)

outcome = Table(
    "outcome",
    metadata,
    Column("run_id", String(36), ForeignKey("run.id"), primary_key=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("pull_number", Integer, nullable=False),
    Column("head_commit", String(64), nullable=False),  # what was delivered
    Column("delivered_at", Float, nullable=False),
    Column("band", String(8), nullable=False),  # strong | fair | weak
    Column("lineages", Integer, nullable=False),
    Column("agreeing", Integer, nullable=False),
    Column("valid", Integer, nullable=False),  # of `total` candidates
    Column("total", Integer, nullable=False),
    Column("eff", Float, nullable=False),
    Column("tested", Boolean, nullable=False),
    Column("probability", Float),  # as it was shown
    Column("choice", JSON, nullable=False),  # sizes of groups, similarities of the first two
    Column("outcome", String(8)),  # merged | edited | closed, NULL while it is open
    Column("ended_at", Float),
    Column("seen_at", Float, nullable=False, default=0.0),  # how new GitHub's word was
    Column("asked_at", Float, nullable=False, default=0.0),  # when GitHub was asked last
    UniqueConstraint("installation_id", "repository_id", "pull_number"),
)
Index("outcome_by_end", outcome.c.installation_id, outcome.c.ended_at)
