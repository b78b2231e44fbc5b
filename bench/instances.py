"""Issues with known places: read from a file, and what of the known places is there to be found."""

import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.index.store import Index
from pipeline.index.values import Scored

_NUMBER = re.compile(r"#\d+\Z")
NOWHERE = 1_000_000  # a rank for what is not in the list


@dataclass(frozen=True, slots=True)
class Instance:
    """One issue. `functions` are `path::Class.method`, `path::` for what is outside functions."""

    name: str
    repository: str
    commit: str
    title: str
    body: str
    files: tuple[str, ...]
    functions: tuple[str, ...]


def read(path: Path, split: str = "") -> list[Instance]:
    """The instances of a JSON-lines file, gzipped or not; `split` in any case, "" for all."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    return [_instance(row) for row in rows if not split or split.lower() in _splits(row)]


def _splits(row: Mapping[str, Any]) -> set[str]:
    given = row.get("splits") or ()
    words: Iterable[str] = re.findall(r"\w+", given) if isinstance(given, str) else given
    return {word.lower() for word in words}


def _instance(row: Mapping[str, Any]) -> Instance:
    title, _, body = str(row["problem_statement"]).partition("\n")
    return Instance(
        name=row["instance_id"],
        repository=row["repo"],
        commit=row["base_commit"],
        title=title.strip(),
        body=body,
        files=tuple(row["gold_files"]),
        functions=tuple(row["gold_functions"]),
    )


def existing_functions(instance: Instance, index: Index) -> tuple[str, ...]:
    """The known functions and methods that the base commit has; new ones cannot be found."""
    there = {
        f"{path}::{each.name}"
        for path in instance.files
        if index.file(path) is not None
        for each in index.parsed_at(path).definitions
        if each.kind == "function"
    }
    return tuple(each for each in instance.functions if each in there)


def first_ranks(ranked: Iterable[Scored]) -> dict[str, int]:
    """Where each file or unit stands first, 1 for the best, by its name in the instances."""
    found: dict[str, int] = {}
    for rank, each in enumerate(ranked, 1):
        path, colon, name = _NUMBER.sub("", each.id).rpartition(":")
        found.setdefault(f"{path}::{name}" if colon else f"{each.id}::", rank)
    return found


def best(ranks: Mapping[str, int], wanted: Iterable[str]) -> int:
    """The rank of the first of them that is found."""
    return min((ranks.get(each, NOWHERE) for each in wanted), default=NOWHERE)


def worst(ranks: Mapping[str, int], wanted: Iterable[str]) -> int:
    """The rank at which all of them are found."""
    return max((ranks.get(each, NOWHERE) for each in wanted), default=NOWHERE)
