"""A repository and an installation of realistic size: many small files and a few large ones.

Contents are half random, so that nothing compresses or deduplicates better than code and
libraries do. The same seed makes the same files.
"""

import random
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@localhost")

# Run in the set-up container: fills the virtual environment as an installer would.
FILL = """
import pathlib, random, sys
root, count, total = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(2)
sizes = [int(rng.lognormvariate(8.2, 1.5)) + 50 for _ in range(count)]
scale = total / sum(sizes)
for number, size in enumerate(sizes):
    folder = root / f"package{number // 60:03}" / f"part{number // 12 % 5}"
    folder.mkdir(parents=True, exist_ok=True)
    half = int(size * scale) // 2
    (folder / f"module{number}.py").write_bytes(rng.randbytes(half) + b"# line\\n" * (half // 7))
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much to make: files and megabytes of the repository and of the installation."""

    files: int
    mb: int
    installed_files: int
    installed_mb: int


FULL = Size(3_000, 52, 15_400, 308)  # 18,400 files, 384 MB
SMALL = Size(200, 2, 500, 8)


@dataclass(frozen=True, slots=True)
class BenchSource:
    """Implements `sandbox.base.Source` over a repository made for the occasion."""

    directory: Path
    repository: str
    base_commit: str

    def _git(self, *args: str) -> bytes:
        command = [*GIT, *args]
        return subprocess.run(command, cwd=self.directory, check=True, capture_output=True).stdout

    async def files(self) -> tuple[str, ...]:
        """Paths of all regular files at the commit, sorted."""
        return tuple(sorted(await self.blobs()))

    async def blobs(self) -> dict[str, str]:
        """The same paths with their object names."""
        rows = self._git("ls-tree", "-r", "-z", self.base_commit).decode().split("\0")
        entries = (row.split("\t", 1) for row in rows if row.startswith("100"))
        return {path: meta.split()[2] for meta, path in entries}

    async def read(self, path: str) -> bytes | None:
        """A file's bytes, None without one."""
        if path not in await self.blobs():
            return None
        return self._git("cat-file", "blob", f"{self.base_commit}:{path}")

    async def archive(self) -> AsyncIterator[bytes]:
        """The tree as a tar stream."""
        data = self._git("archive", "--format=tar", self.base_commit)
        for start in range(0, len(data), 65536):
            yield data[start : start + 65536]


def make_repository(directory: Path, repository: str, size: Size) -> BenchSource:
    """A repository of `size` with one commit."""
    rng = random.Random(1)
    each = size.mb * 1_000_000 // size.files
    for number in range(size.files):
        path = directory / f"src/part{number // 50:03}/module{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        half = rng.randrange(each // 2, each + each // 2) // 2
        path.write_bytes(rng.randbytes(half) + b"# line\n" * (half // 7))
    (directory / "tools").mkdir()
    (directory / "tools/fill.py").write_text(FILL)
    subprocess.run(["git", "init", "-q", "-b", "main", "."], cwd=directory, check=True)
    return _committed(directory, repository)


def _committed(directory: Path, repository: str) -> BenchSource:
    for command in (["add", "-A"], ["commit", "-q", "-m", "bench"]):
        subprocess.run([*GIT, *command], cwd=directory, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=directory, check=True, capture_output=True
    )
    return BenchSource(directory, repository, head.stdout.decode().strip())
