"""Which parser a store was made by: another number means another file, and parsing anew."""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from pipeline.index.languages import specs

_INDEX = Path(__file__).parent.parent
_DERIVED = ("graph", "rank", "search")  # made of what a store holds; name their forms themselves


def sources() -> list[Path]:
    """The files that decide what a store holds: all of the index but what is derived from it."""
    found = [path for path in _INDEX.rglob("*") if path.suffix in {".py", ".scm"}]
    return sorted(path for path in found if path.relative_to(_INDEX).parts[0] not in _DERIVED)


def packages() -> dict[str, str]:
    """tree-sitter and the grammars of all languages, with their versions."""
    grammars = {spec.grammar.__module__.partition(".")[0] for spec in specs()}
    return {name: metadata.version(name) for name in sorted({"tree_sitter", *grammars})}


def number_of(files: Iterable[Path], used: Mapping[str, str], python: str) -> int:
    """A number from 1 to 2²⁴ of these files, packages and this Python."""
    digest = hashlib.sha256(repr((python, sorted(used.items()))).encode())
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(_INDEX)}\0{len(content)}\0".encode() + content)
    return int.from_bytes(digest.digest()[:3], "big") + 1


@cache
def version() -> int:
    """The number of this parser. Python belongs to it, since it reads its own language."""
    return number_of(sources(), packages(), sys.version)
