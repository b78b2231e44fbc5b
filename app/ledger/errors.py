"""Errors of the ledger.

LedgerError
├── Fenced            the run belongs to somebody else now; stop, write nothing more
├── EffectMismatch    an effect was recorded with another request: a bug, never go on
├── NotStarted        an item is finished that was never started
├── OutputTooLarge    (ValueError)  an item's output is over the cap
├── LedgerUnavailable (ConnectionError)  the database cannot be reached
└── NotMigrated       the database does not have this version's tables
"""


class LedgerError(Exception):
    """Base of everything the ledger raises by itself."""


class Fenced(LedgerError):
    """Another worker owns the run, or it has ended: nothing was written."""

    def __init__(self, run_id: str, epoch: int) -> None:
        super().__init__(f"Run {run_id} is no longer owned under epoch {epoch}.")
        self.run_id = run_id
        self.epoch = epoch


class EffectMismatch(LedgerError):
    """The same effect was recorded with a different request."""

    def __init__(self, run_id: str, kind: str) -> None:
        super().__init__(
            f"Run {run_id} already recorded the effect {kind!r} with another request; "
            "nothing was changed."
        )
        self.run_id = run_id
        self.kind = kind


class NotStarted(LedgerError):
    """An item cannot be finished: it was never started or is finished already."""


class OutputTooLarge(LedgerError, ValueError):
    """An item's output does not fit; nothing was written."""


class LedgerUnavailable(LedgerError, ConnectionError):
    """The database cannot be reached or is none; the message says what to check."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(
            f"The database does not answer ({type(cause).__name__}). Check DATABASE_URL and its "
            "access."
        )


class NotMigrated(LedgerError):
    """The database lacks this version's tables; `found` is its version or None."""

    def __init__(self, found: str | None, wanted: str) -> None:
        super().__init__(
            f"The database is at version {found or 'none'}, {wanted} is needed. A version this "
            "program does not know is of a newer one: start that, or restore a backup."
        )
        self.found = found
        self.wanted = wanted
