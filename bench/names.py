"""Is a patch that uses undefined names ever right? The check against patches with known outcome.

    python bench/names.py --pool FILE [FILE …] --repos DIR [--json]

FILE is JSON lines of candidate patches as `bench/voting.py` takes them, DIR holds bare mirrors
named `owner__name.git`. Counts right and wrong patches with and without a name that nothing
defines; a right one with such a name is a false alarm, and is printed.
"""

import argparse
import asyncio
import gzip
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.vote_patches import base_texts, place, read_loosely
from pipeline.choose.litter import litter
from pipeline.evidence.policy_paths import judges
from pipeline.evidence.static import StaticCheck, undefined_names
from sandbox.patch.patch import PatchError, paths, without_paths

Row = Mapping[str, Any]


class Alone:
    """A base of which nothing but the touched files is looked at: the check at its strictest."""

    repository = base_commit = ""

    async def files(self) -> tuple[str, ...]:
        """No others."""
        return ()

    async def blobs(self) -> Mapping[str, str]:
        """No others."""
        return {}

    async def read(self, path: str) -> bytes | None:
        """See `files`."""
        return None

    async def archive(self) -> AsyncIterator[bytes]:
        """See `files`."""
        yield b""


def counted(rows: Sequence[Row], repos: Path) -> tuple[Counter[str], list[str]]:
    """Kinds of one instance's patches, and the false alarms among them in words."""
    name = rows[0]["instance_id"]
    mirror = repos / f"{name.rpartition('-')[0]}.git"
    bases = base_texts(mirror, [row["patch"] for row in rows], rows[0].get("base_commit", ""))
    kinds, alarms = Counter[str](), []
    for row in rows:
        found = asyncio.run(_names(row["patch"], bases))
        outcome = "right" if row["resolved"] else "wrong"
        kinds["not placed" if found is None else f"{outcome}{', flagged' if found else ''}"] += 1
        if found and row["resolved"]:
            alarms.append(f"{name}: {', '.join(found)}")
    return kinds, alarms


async def _names(patch: str, bases: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """What a patch leaves undefined, None when that cannot be told.

    It may have no base, change no source, or change a file twice, of which only once is placed.
    """
    if max(Counter(each.path for each in read_loosely(patch)).values(), default=0) > 1:
        return None
    try:
        placed = place(patch, bases)
        source = without_paths(placed.patch, list(filter(judges, paths(placed.patch))))
        touched = paths(without_paths(source, litter(source)))
    except PatchError:
        return None
    if not touched or not placed.after.keys() >= set(touched):
        return None
    check = StaticCheck(True, True, placed.before, placed.after)
    return await undefined_names(check, touched, Alone())


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pool", type=Path, nargs="+", required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows: dict[str, list[Row]] = {}
    for path in given.pool:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for row in map(json.loads, filter(None, data.decode().split("\n"))):
            rows.setdefault(row["instance_id"], []).append(row)
    kinds, alarms = Counter[str](), list[str]()
    with ProcessPoolExecutor(2) as processes:
        for found, said in processes.map(partial(counted, repos=given.repos), rows.values()):
            kinds += found
            alarms += said
    if given.json:
        print(json.dumps({"patches": dict(kinds), "false_alarms": alarms}))
        return
    for kind, count in sorted(kinds.items()):
        print(f"{kind}: {count}")
    for line in alarms:
        print(f"false alarm: {line}")


if __name__ == "__main__":
    main()
