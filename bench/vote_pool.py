"""Pools of candidate patches with known outcome, and what each rule compares of a patch.

What the product compares comes from the product's own functions. The label is kept apart from
everything that a rule may see.
"""

import asyncio
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from bench.vote_patches import Placed, base_texts, place
from pipeline.choose.canonical.units import changed, plain
from pipeline.choose.edit import Read, edit_of
from pipeline.choose.litter import litter
from pipeline.choose.normalise import entries, key_of
from pipeline.evidence.policy_paths import judges
from pipeline.index.units import Unit, units
from pipeline.values import Edit
from sandbox.patch.patch import PatchError, changed_lines, parse, paths, without_paths

Json = Any
_NO_SOURCE = frozenset(
    {".md", ".rst", ".txt", ".po", ".lock", ".log", ".orig", ".rej", ".patch", ".diff"}
)
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Voter:
    """One candidate of a pool. `valid`: it may win, and its vote counts.

    `ast`, `text` and `trae` are what other rules call the same patch, `tokens` those of its
    changed lines.
    """

    number: int
    source: str
    valid: bool
    edit: Edit
    lines: int = 0
    ast: str = ""
    text: str = ""
    trae: str = ""
    tokens: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue's candidates by number, and the numbers of those that resolve it."""

    name: str
    voters: Mapping[int, Voter]
    resolved: frozenset[int]


def read_pool(path: Path, repos: Path | None) -> list[Instance]:
    """The instances of a JSON-lines file, gzipped or not, in its order. Two processes."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows: dict[str, list[Json]] = {}
    for line in data.decode().split("\n"):
        if line.strip():
            row = json.loads(line)
            rows.setdefault(row["instance_id"], []).append(row)
    with ProcessPoolExecutor(2) as processes:
        return list(processes.map(partial(_instance, repos=repos), rows.values(), chunksize=4))


def _instance(rows: Sequence[Json], repos: Path | None) -> Instance:
    name = rows[0]["instance_id"]
    bases: Mapping[str, Sequence[str]] = {}
    if repos is not None:
        git_dir = repos / f"{name.rpartition('-')[0]}.git"
        bases = base_texts(git_dir, [r["patch"] for r in rows], rows[0].get("base_commit", ""))
    voters = asyncio.run(_voters(rows, bases))
    right = frozenset(row["candidate"] for row in rows if row["resolved"])
    return Instance(name, {each.number: each for each in voters}, right)


async def _voters(rows: Sequence[Json], bases: Mapping[str, Sequence[str]]) -> list[Voter]:
    known: dict[tuple[str, str], Sequence[Unit]] = {}

    async def read(path: str, text: str) -> Sequence[Unit]:
        if (path, text) not in known:
            known[path, text] = await units(path, text)
        return known[path, text]

    return [await _voter(row, bases, read) for row in rows]


async def _voter(row: Json, bases: Mapping[str, Sequence[str]], read: Read) -> Voter:
    nothing = Voter(row["candidate"], row.get("source", ""), False, Edit(""))
    applies = row.get("applies", row.get("patch_applied", True))
    if not row["patch"].strip() or not applies or row.get("parses") is False:
        return nothing
    try:
        placed = place(row["patch"], bases)
        source = _source_of(placed.patch)
        edit = await edit_of(source, placed.before, placed.after, read)
        ast = _ast_key(source, placed)
        size = changed_lines(source)
    except PatchError:
        return nothing
    return replace(
        nothing,
        valid=bool(edit.key) and _has_source(edit) and row.get("no_p2p_failed", True),
        edit=edit,
        lines=size,
        ast=ast,
        text=_digest("".join(_changed(source))),
        trae=_digest("".join(_trae(source))),
        tokens=frozenset(token for line in _changed(source) for token in _TOKEN.findall(line)),
    )


def _source_of(patch: str) -> str:
    """The patch without tests and litter, as the product votes on it."""
    tests = [path for path in paths(patch) if judges(path)]
    return without_paths(patch, [*tests, *litter(patch)])


def _has_source(edit: Edit) -> bool:
    return any(PurePosixPath(path).suffix not in _NO_SOURCE for path in edit.files)


def _ast_key(patch: str, placed: Placed) -> str:
    """Agentless' identity: abstract syntax without comments and docstrings."""
    found: list[tuple[str, ...]] = []
    for part in parse(patch):
        before, after = placed.before.get(part.path) or "", placed.after.get(part.path)
        units = None if after is None else changed(part.path, before, after)
        if units is None:
            found += entries(part, placed.before, placed.after)
        else:
            found += [(part.path, name, *plain(now)) for name, _, now in units]
    return key_of(found)


def _changed(patch: str) -> Iterator[str]:
    """Added and removed lines with their sign, in their order."""
    for part in parse(patch):
        for hunk in part.hunks:
            yield from (line for line in hunk.lines if line[0] != " ")


def _trae(patch: str) -> Iterator[str]:
    """Trae's cleaned text: no comments, no blank lines, no white space, no file names."""
    for line in _changed(patch):
        text = re.sub(r"\s+", "", re.sub(r"#.*", "", line[1:]))
        if text:
            yield line[0] + text


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
