"""What ranking keeps in the store between commits: counts by blob, messages by commit."""

from collections.abc import Sequence

from pipeline.index.store import Index

# Kinds are named with the version of their form: another number makes everything anew.
BLOB, COMMIT, HISTORY = "rank.blob.1", "rank.commit.1", "rank.history.1"
_AT_ONCE = 500  # keys of one statement


def read(index: Index, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
    """The values that are kept, by key."""
    found: dict[str, bytes] = {}
    for start in range(0, len(keys), _AT_ONCE):
        part = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        statement = f"SELECT key, value FROM kept WHERE kind = ? AND key IN ({marks})"  # noqa: S608 - only marks
        found.update(index.rows(statement, (kind, *part)))
    return found


def keys(index: Index, kind: str) -> frozenset[str]:
    """The keys of one kind."""
    rows = index.rows("SELECT key FROM kept WHERE kind = ?", (kind,))
    return frozenset(key for (key,) in rows)
