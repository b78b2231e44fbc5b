"""Errors of the code index.

PipelineError
└── IndexingFailed     base: the index cannot be built or read; nothing else is lost
    ├── UnknownCommit  (LookupError)  the repository has no such commit
    ├── ObjectMissing  (LookupError)  git lists a file that it cannot give
    ├── NotIndexed     (LookupError)  the commit was never built into this store
    └── StoreUnusable  (OSError)      the store's file cannot be opened, read or written
"""

from pipeline.errors import PipelineError


class IndexingFailed(PipelineError):
    """Base of what can go wrong with an index; work goes on without one."""


class UnknownCommit(IndexingFailed, LookupError):
    """The repository has no such commit."""


class ObjectMissing(IndexingFailed, LookupError):
    """git lists a file but cannot give its content: the mirror is damaged or incomplete."""


class NotIndexed(IndexingFailed, LookupError):
    """The commit was never built into this store."""


class StoreUnusable(IndexingFailed, OSError):
    """The store's file cannot be opened, read or written."""
