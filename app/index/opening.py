"""The index of a source: built where the mirror is, and opened."""

import asyncio
import hashlib
from pathlib import Path

from app.github.mirror import Mirror
from app.github.objects import MirrorObjects
from app.github.source import MirrorSource
from pipeline.index.build import BuildStats, Progress, build
from pipeline.index.store import Index, open_index


def store_of(data_dir: Path, mirror: Mirror) -> Path:
    """Where the index of a repository is: beside a mirror that stays, else below the data folder
    by the repository's path. `pipeline.index.store.store_file` names the file of this version."""
    if not mirror.key.startswith("local/"):
        return mirror.path.with_suffix(".index.sqlite")
    name = hashlib.sha256(mirror.key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return data_dir.absolute() / "index" / f"{name}.sqlite"


async def built(
    data_dir: Path, source: MirrorSource, progress: Progress | None = None
) -> tuple[Index, BuildStats]:
    """Build what is not there yet, and open it; `progress` is told from another thread.

    Raises IndexingFailed. A caller that is cancelled does not wait for the build, which keeps
    what it parses.
    """
    return await asyncio.to_thread(build_and_open, data_dir, source, progress)


def build_and_open(
    data_dir: Path, source: MirrorSource, progress: Progress | None = None
) -> tuple[Index, BuildStats]:
    """The blocking form of `built`."""
    objects, store = MirrorObjects(source.mirror), store_of(data_dir, source.mirror)
    stats = build(objects, source.base_commit, store, progress)
    return open_index(store, source.base_commit, objects), stats
