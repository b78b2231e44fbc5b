"""A tiny repository in memory, for trying attacks on any engine with only the base image."""

import io
import tarfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from hashlib import sha1

from sandbox.base import EnvironmentPlan

_FILES: Mapping[str, str] = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py": (
        "import unittest\n\nimport shop\n\n\n"
        "class Shop(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n"
        "    def test_words(self):\n        self.assertEqual(shop.total([]), 'nothing')\n"
    ),
    ".gitattributes": "* text=auto\n*.py filter=evil diff=evil\n",
}
PLAN = EnvironmentPlan(
    language="python",
    setup=("python --version",),
    test="python -m unittest -v",
    runner="unittest",
    origin="attacks",
)


@dataclass(frozen=True, slots=True)
class TinySource:
    """Implements `sandbox.base.Source`; one of its two tests fails before any patch."""

    repository: str = "prism/attacks"
    base_commit: str = sha1(repr(sorted(_FILES.items())).encode()).hexdigest()  # noqa: S324 - a name

    async def files(self) -> tuple[str, ...]:
        """Paths of all files, sorted."""
        return tuple(sorted(_FILES))

    async def blobs(self) -> Mapping[str, str]:
        """Paths with the object names git would give them."""
        return {path: _blob(text.encode()) for path, text in _FILES.items()}

    async def read(self, path: str) -> bytes | None:
        """A file's bytes, None when there is no such file."""
        return _FILES[path].encode() if path in _FILES else None

    async def archive(self) -> AsyncIterator[bytes]:
        """The tree as a tar stream."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as tar:
            for path, text in sorted(_FILES.items()):
                info = tarfile.TarInfo(path)
                info.size = len(text.encode())
                tar.addfile(info, io.BytesIO(text.encode()))
        yield out.getvalue()


def _blob(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data).hexdigest()  # noqa: S324 - git's names
