"""Where the index reads from: git objects of one repository, never a work tree."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One path of a commit's tree. `path` is decoded with surrogateescape; `size` in bytes, 0 for
    what is no blob. Symlinks and submodules are listed and never followed."""

    path: str
    blob: str
    size: int
    kind: Literal["file", "symlink", "submodule"]


@dataclass(frozen=True, slots=True)
class CommitInfo:
    """One ancestor: message (subject, blank line, body), commit time in seconds, changed paths
    and, where asked for, (path, function) pairs from hunk headers."""

    id: str
    time: int
    message: str
    paths: tuple[str, ...]
    functions: tuple[tuple[str, str], ...] = ()


class GitObjects(Protocol):
    """Blocking reads; callers use threads. Raises UnknownCommit with a plain message."""

    def resolve(self, commit: str) -> str:
        """The full object name of a commit."""

    def tree(self, commit: str) -> Sequence[TreeEntry]:
        """All paths of a commit, sorted by path."""

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents in the order asked for, one batch process."""

    def history(self, commit: str, limit: int) -> Iterator[CommitInfo]:
        """Ancestors of a commit that are no merges, newest first, at most `limit`."""
