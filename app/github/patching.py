"""Apply a patch in a bare mirror: a temporary index and object store, no work tree.

`git apply` refuses `..`, absolute paths, `.git` and writes through symlinks by itself; the rest
is the patch policy's, which runs before this.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.github.errors import MirrorFailed, PatchDoesNotApply
from app.github.mirror import Mirror, run_git
from sandbox.patch.limits import declared_bytes

APPLY_TIMEOUT_S = 30.0
MEMORY_KB = 1_000_000  # a patch of 1 MB can declare a blob of gigabytes
PATCH_BYTES = 4_000_000
BINARY_BYTES = 16_000_000

_LIMITED = ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(MEMORY_KB)]


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A path that the patch changed. `content` None means that the file is gone."""

    path: str
    mode: str
    sha: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class PatchedTree:
    """The result of a patch: the whole tree's object name, and what differs from the base."""

    tree: str
    base_tree: str
    files: tuple[ChangedFile, ...]


async def apply_patch(mirror: Mirror, base_commit: str, patch: str) -> PatchedTree:
    """Apply without fuzz at `base_commit`; the mirror is left as it was.

    Raises PatchDoesNotApply with git's reason, also when the patch declares too much data or
    git runs out of its memory or time.
    """
    data = patch.encode("utf-8", "surrogateescape")
    if len(data) > PATCH_BYTES or declared_bytes(patch) > BINARY_BYTES:
        raise PatchDoesNotApply("The patch is too large to be applied.")
    return await asyncio.to_thread(_apply, mirror, base_commit, data)


def _apply(mirror: Mirror, base_commit: str, patch: bytes) -> PatchedTree:
    with TemporaryDirectory(prefix="prism-apply-") as folder:
        env = {
            "GIT_INDEX_FILE": str(Path(folder) / "index"),
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(mirror.path / "objects"),
        }
        run_git(mirror, ["git", "read-tree", base_commit], env=env)
        command = [*_LIMITED, "git", "apply", "--cached", "--whitespace=nowarn", "-"]
        try:
            run_git(mirror, command, patch, env, APPLY_TIMEOUT_S)
        except MirrorFailed as error:
            raise PatchDoesNotApply(str(error)) from None
        tree = run_git(mirror, ["git", "write-tree"], env=env).decode().strip()
        base_tree = run_git(mirror, ["git", "rev-parse", base_commit + "^{tree}"], env=env)
        return PatchedTree(
            tree, base_tree.decode().strip(), _changes(mirror, base_commit, tree, env)
        )


def _changes(
    mirror: Mirror, base_commit: str, tree: str, env: dict[str, str]
) -> tuple[ChangedFile, ...]:
    command = ["git", "diff-tree", "-r", "-z", "--no-renames", "--no-commit-id"]
    raw = run_git(mirror, [*command, base_commit, tree], env=env)
    fields = raw.decode("utf-8", "surrogateescape").split("\0")
    changes = []
    for meta, path in zip(fields[0::2], fields[1::2], strict=False):
        _, mode, _, sha, status = meta.split(" ")
        content = None
        if status != "D":
            content = run_git(mirror, ["git", "cat-file", "blob", sha], env=env)
        changes.append(ChangedFile(path, mode, sha, content))
    return tuple(changes)
