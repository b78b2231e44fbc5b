"""Which tests are near to a change: by names of files, by imports, by the names they use."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.index.store import Index
from pipeline.index.values import ParsedFile

MIRROR, IMPORTED, SAME_FOLDER = 3.0, 1.5, 0.5
MIN_NAME = 4  # characters; shorter names are used by everything
_MARKS = re.compile(r"^(?:tests?[_.-])|(?:[_.-]?(?:tests?|spec))$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Changed:
    """Names that lead to the changed files: their own, those they define, and their folders."""

    stems: frozenset[str]
    defined: frozenset[str]
    folders: frozenset[str]


def nearest_tests(index: Index, changed: Collection[str], limit: int = 200) -> list[str]:
    """Test files of an opened commit, those nearest to the changed paths or units first.

    `changed` are paths or ids of units (`path:Qual.Name`), as a ranking or a patch names them, in
    any order; of a unit only its own name counts, of a path all that it defines. What the commit
    does not have counts by its path: a patch may add files. A changed test is nearest to itself.

    Always the same order; at most `limit`, without the tests that have no relation: who wants all
    adds those. Blocks and reads every parsed file of the commit: 0.7 s on django (2,400 tests), so
    call it in a thread and once. Raises StoreUnusable.
    """
    wanted = {_path(index, each) for each in changed}
    own = {each.partition(":")[2].partition("#")[0] for each in changed} - {""}
    tests: dict[str, ParsedFile] = {}
    defined: set[str] = {name.rpartition(".")[2] for name in own}
    for row, parsed in index.all_parsed():
        if row.is_test:
            tests[row.path] = parsed
        elif row.path in wanted and row.path in changed:
            defined |= {each.name.rpartition(".")[2] for each in parsed.definitions}
    return nearest(wanted, defined, tests)[:limit]


def _path(index: Index, id_: str) -> str:
    while id_ and index.file(id_) is None and ":" in id_:
        id_ = id_.rpartition(":")[0]
    return id_


def nearest(
    changed: Iterable[str], defined: Iterable[str], tests: Mapping[str, ParsedFile]
) -> list[str]:
    """Rank test files by path for changed paths and the names these define; pure.

    A name that many tests use tells less of each: it counts 1/√tests.
    """
    paths = sorted(set(changed))
    seek = _Changed(
        frozenset(filter(None, map(_stem, paths))),
        frozenset(name for name in defined if len(name) >= MIN_NAME),
        frozenset(part for path in paths for part in path.split("/")[:-1]),
    )
    used = {path: _names(parsed) & seek.defined for path, parsed in tests.items()}
    common = Counter(name for names in used.values() for name in names)
    scores = {
        path: _score(path, parsed, seek) + sum(common[name] ** -0.5 for name in sorted(used[path]))
        for path, parsed in tests.items()
    }
    for path in scores.keys() & set(paths):
        scores[path] = math.inf
    return sorted((path for path in scores if scores[path] > 0), key=lambda at: (-scores[at], at))


def _score(path: str, parsed: ParsedFile, seek: _Changed) -> float:
    modules = {
        part for each in parsed.imports for part in re.split(r"[./:\\]+", each.module)[-2:]
    } | {each.name for each in parsed.imports}
    mirrored = _stem(path) in seek.stems
    imported = not seek.stems.isdisjoint(modules)
    if not mirrored and not imported and _names(parsed).isdisjoint(seek.defined):
        return 0.0
    shared = len(seek.folders & set(path.split("/")[:-1]))
    return MIRROR * mirrored + IMPORTED * imported + SAME_FOLDER * min(shared, 3)


def _names(parsed: ParsedFile) -> set[str]:
    """Last parts of everything a file calls or imports."""
    called = {re.split(r"[.()]+", each.target.rstrip("()"))[-1] for each in parsed.calls}
    return called | {each.name for each in parsed.imports}


def _stem(path: str) -> str:
    """`query` for `db/query.py` and for `tests/test_query.py`; of an index file its folder."""
    parts: Sequence[str] = path.split("/")
    name = _MARKS.sub("", parts[-1].partition(".")[0])
    if name in {"__init__", "index", "mod", "lib", "main", ""} and len(parts) > 1:
        name = _MARKS.sub("", parts[-2])
    return name.lower()
