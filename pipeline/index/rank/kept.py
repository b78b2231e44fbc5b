"""What ranking keeps in the store between commits: counts by blob, messages by commit."""

from pipeline.index.store import Index

# Kinds are named with the version of their form: another number makes everything anew.
BLOB, COMMIT, HISTORY = "rank.blob.1", "past-commit.1", "past-list.1"


def keys(index: Index, kind: str) -> frozenset[str]:
    """The keys of one kind."""
    rows = index.rows("SELECT key FROM kept WHERE kind = ?", (kind,))
    return frozenset(key for (key,) in rows)
