"""A repository at one commit, read from a bare mirror: what the sandbox unpacks and plans from."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.github.errors import MirrorFailed
from app.github.mirror import (
    Mirror,
    Remote,
    fetch,
    git,
    local_commit,
    local_mirror,
    mirror_of,
    resolve_commit,
    stream_archive,
)
from pipeline.errors import EmptyRepository

REGULAR = frozenset({b"100644", b"100755"})


@dataclass(frozen=True, slots=True)
class MirrorSource:
    """Implements `sandbox.base.Source` over a mirror; never touches a work tree."""

    repository: str
    base_commit: str
    mirror: Mirror

    async def files(self) -> tuple[str, ...]:
        """Paths of all regular files, sorted; names that are not UTF-8 are left out."""
        return tuple(sorted(await self.blobs()))

    async def blobs(self) -> dict[str, str]:
        """The same paths with the object names of their contents."""
        listing = await git(self.mirror, "ls-tree", "-r", "-z", "--full-tree", self.base_commit)
        found = {}
        for entry in listing.split(b"\0"):
            meta, _, name = entry.partition(b"\t")
            fields = meta.split(b" ")
            if fields[0] in REGULAR and (path := _utf8(name)) is not None:
                found[path] = fields[2].decode("ascii")
        return found

    async def read(self, path: str) -> bytes | None:
        """The file's bytes, None for anything but a regular file."""
        if not path or path.startswith("/") or ".." in path.split("/"):
            return None
        entry = await git(self.mirror, "ls-tree", "-z", "--full-tree", self.base_commit, "--", path)
        meta, _, name = entry.rstrip(b"\0").partition(b"\t")
        fields = meta.split(b" ")
        if fields[0] not in REGULAR or _utf8(name) != path:
            return None
        return await git(self.mirror, "cat-file", "blob", fields[2].decode("ascii"))

    def archive(self) -> AsyncIterator[bytes]:
        """The tree as a tar stream, byte for byte as committed."""
        return stream_archive(self.mirror, self.base_commit)


async def checkout(
    data_dir: Path,
    installation_id: int,
    repository_id: int,
    remote: Remote,
    branch: str,
    commit: str = "",
) -> MirrorSource:
    """Fetch a branch and return its source at `commit`, or at the branch's tip when "".

    Raises EmptyRepository when the branch does not exist or holds no file, MirrorFailed when
    git cannot fetch or `commit` is gone.
    """
    mirror = mirror_of(data_dir, installation_id, repository_id)
    if commit and mirror.path.exists() and await resolve_commit(mirror, commit):
        return MirrorSource(mirror.key, commit, mirror)
    if not await fetch(mirror, remote, branch):
        raise EmptyRepository(
            f"The branch `{branch}` of {remote.full_name} has no commit, so there is nothing to "
            "repair yet. Push a first commit and ask again."
        )
    found = await resolve_commit(mirror, commit or f"refs/heads/{branch}")
    if found is None:
        raise MirrorFailed(f"Commit {commit} is no longer on the branch `{branch}`.")
    return await _not_empty(MirrorSource(mirror.key, found, mirror))


@contextmanager
def local_source(repository: Path, commit: str = "HEAD") -> Iterator[MirrorSource]:
    """The source of a local repository at a commit, without fetching or writing into it.

    Blocks for a moment. Raises MirrorFailed when there is no repository or no such commit.
    """
    with local_mirror(repository) as mirror:
        found = local_commit(repository, commit)
        if not found:
            raise MirrorFailed(f"{repository} has no commit `{commit}`.")
        yield MirrorSource(mirror.key, found, mirror)


async def _not_empty(source: MirrorSource) -> MirrorSource:
    if not await source.files():
        raise EmptyRepository(f"Commit {source.base_commit[:10]} holds no file.")
    return source


def _utf8(name: bytes) -> str | None:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None
