"""One folder of a source as detectors see it: names and texts below it, nothing else."""

import re
from dataclasses import dataclass

from sandbox.base import Source
from sandbox.environment.documents import read_text


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of `source` below `directory` ("" = all); paths are relative to it."""

    source: Source
    files: tuple[str, ...]
    directory: str

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return inside(self.directory, path) in self.files

    def paths(self, pattern: str) -> tuple[str, ...]:
        """The files whose relative path matches a regular expression somewhere."""
        start = self.directory + "/" if self.directory else ""
        below = (path[len(start) :] for path in self.files if path.startswith(start))
        return tuple(path for path in below if re.search(pattern, path))

    def any(self, pattern: str) -> bool:
        """Whether any file's relative path matches."""
        return bool(self.paths(pattern))

    async def text(self, path: str) -> str:
        """A file's text; "" when there is none or it is larger than any manifest."""
        return await read_text(self.source, inside(self.directory, path))

    def name(self, path: str) -> str:
        """How `origin` names a file: by its path from the root."""
        return inside(self.directory, path)


def inside(directory: str, path: str) -> str:
    """Join a folder ("" and "." are the root) and a path in it."""
    directory = directory.removeprefix("./").rstrip("/")
    return f"{directory}/{path}" if directory not in {"", "."} else path
