"""Files by name, and a file as the heads of what it defines."""

import re
from collections.abc import Callable, Sequence
from fnmatch import translate

from pipeline.index.quoting import quoted, unquoted
from pipeline.index.search.values import FileHit, Found
from pipeline.index.store import FileRow, Index
from pipeline.index.values import Unit

MAX_FILES = 50
MAX_SKELETONS = 10
MAX_SKELETON = 200


def find_files(index: Index, name: str, folder: str, tests: bool) -> Found[FileHit]:
    """Files of that name or glob below a folder; skeletons of the first 10, paths of 50.

    A name with slashes is compared with the end of the path. No glob runs for ever: `fnmatch`
    writes atomic groups.
    """
    fits = naming(name)
    rows = [row for row in index.files() if fits(row.path) and below(row.path, folder)]
    shown = [row for row in rows if tests or not row.is_test or row.path == name]
    shown.sort(key=lambda row: (row.is_test, row.path.count("/"), row.path))
    hits = [
        _hit(index, row, with_skeleton=number < MAX_SKELETONS)
        for number, row in enumerate(shown[:MAX_FILES])
    ]
    return Found(tuple(hits), max(0, len(shown) - MAX_FILES), len(rows) - len(shown))


def below(path: str, folder: str) -> bool:
    """Whether a path is in a folder or the folder itself; "" and "." are the root."""
    root = folder.strip().strip("/").removeprefix("./")
    return root in {"", "."} or path == root or path.startswith(f"{root}/")


def naming(name: str) -> Callable[[str], bool]:
    """Whether a path has that name, ends in it, or fits it as a glob from some folder on.

    Names like `[id].tsx` are names first; quoted ones are understood.
    """
    wanted = name.strip().removeprefix("./").strip("/")
    names = {wanted, name, unquoted(wanted)}
    ends = tuple(f"/{each}" for each in names)

    def literally(path: str) -> bool:
        return path in names or path.endswith(ends)

    if not any(sign in wanted for sign in "*?["):
        return literally
    glob = re.compile(f"(?:{translate(wanted)})|(?:{translate(f'*/{wanted}')})")
    if "/" in wanted:
        return lambda path: glob.match(path) is not None or literally(path)
    return lambda path: glob.match(path[path.rfind("/") + 1 :]) is not None or literally(path)


def skeleton(units: Sequence[Unit]) -> str:
    """The heads of a file's definitions with their lines, indented as they are nested."""
    inside = [unit for unit in units if unit.kind in {"class", "function"}]
    depth: dict[str, int] = {}
    rows = []
    for unit in inside[:MAX_SKELETON]:
        depth[unit.id] = depth.get(unit.parent, -1) + 1
        rows.append(f"{'  ' * depth[unit.id]}{unit.start}–{unit.end}\t{quoted(unit.signature)}")
    if len(inside) > MAX_SKELETON:
        rows[-1] = f"({len(inside) - MAX_SKELETON + 1} more definitions not shown)"
    return "\n".join(rows)


def _hit(index: Index, row: FileRow, with_skeleton: bool) -> FileHit:
    shown = skeleton(index.units(row.path)) if with_skeleton and row.language else ""
    return FileHit(row.path, row.language, row.lines, shown)
