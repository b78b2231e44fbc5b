"""One repository's instances, each ranked by Prism and by plain BM25 at its base commit."""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.github.mirror import Mirror
from app.github.objects import MirrorObjects
from bench.instances import (
    Instance,
    best,
    existing_functions,
    first_ranks,
    worst,
)
from bench.plain_bm25 import plain
from pipeline.index.build import build
from pipeline.index.errors import UnknownCommit
from pipeline.index.objects import CommitInfo, TreeEntry
from pipeline.index.parse import is_test, language_of
from pipeline.index.rank import weights
from pipeline.index.rank.arrays import CLASS, FUNCTION, MODULE, Arrays
from pipeline.index.rank.prepare import prepare
from pipeline.index.rank.rank import fuse, measure
from pipeline.index.rank.signals import Signals
from pipeline.index.store import Index, open_index
from pipeline.index.values import Ranking, Scored


@dataclass(frozen=True, slots=True)
class Ranks:
    """At which rank all known files, one and all known functions, and all known places are."""

    file: int
    function_any: int
    function_all: int
    strict: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """`ranks` by way of ranking; `functions` known ones that the commit has; `seconds` to rank."""

    name: str
    repository: str
    functions: tuple[str, ...]
    ranks: Mapping[str, Ranks]
    seconds: float


@dataclass(frozen=True, slots=True)
class SourceOnly:
    """Git objects without tests and data: these are no candidates, and half of the bytes."""

    objects: MirrorObjects

    def resolve(self, commit: str) -> str:
        """As the mirror does."""
        return self.objects.resolve(commit)

    def tree(self, commit: str) -> Sequence[TreeEntry]:
        """Source files that are no tests."""
        return [
            each
            for each in self.objects.tree(commit)
            if each.kind == "file" and language_of(each.path) and not is_test(each.path)
        ]

    def blobs(self, ids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """As the mirror does."""
        return self.objects.blobs(ids)

    def history(self, commit: str, limit: int) -> Iterator[CommitInfo]:
        """As the mirror does."""
        return self.objects.history(commit, limit)


def find_all(
    instances: Sequence[Instance], repos: Path, cache: Path, ablation: bool
) -> list[Outcome]:
    """The outcomes of one repository's instances; one whose commit is missing is left out."""
    name = instances[0].repository.replace("/", "__")
    objects = SourceOnly(MirrorObjects(Mirror(repos.absolute() / f"{name}.git", name)))
    store = cache / f"{name}.sqlite"
    outcomes = []
    for instance in _by_age(instances, objects):
        build(objects, instance.commit, store, workers=1)
        with open_index(store, instance.commit, objects) as index:
            outcomes.append(find(instance, index, ablation))
        print(instance.name, file=sys.stderr)
    return outcomes


def _by_age(instances: Sequence[Instance], objects: SourceOnly) -> list[Instance]:
    """Oldest first, so that each finds most of its files and ancestors kept."""
    ages = {}
    for each in instances:
        try:
            ages[each] = next((info.time for info in objects.history(each.commit, 1)), 0)
        except UnknownCommit:
            continue
    return sorted(ages, key=lambda each: ages[each])


def find(instance: Instance, index: Index, ablation: bool = False) -> Outcome:
    """Rank one instance in every way."""
    functions = existing_functions(instance, index)
    commit = prepare(index)
    start = time.perf_counter()
    measured = measure(commit, instance.title, instance.body)
    ranking = fuse(commit.arrays, measured, weights.FILE, weights.UNIT)
    seconds = time.perf_counter() - start
    mixed = fuse(
        commit.arrays, measured, weights.FILE, weights.UNIT, (MODULE, CLASS, FUNCTION)
    ).functions
    files, units = plain(index, instance.title, instance.body)
    ranks = {
        "prism": _ranks(instance, functions, ranking, mixed),
        "bm25": _ranks(instance, functions, Ranking(tuple(files), tuple(units), 0.0), units),
    }
    if ablation:
        for name, other in _ablated(commit.arrays, measured):
            ranks[name] = _ranks(instance, functions, other, ())
    return Outcome(instance.name, instance.repository, functions, ranks, seconds)


def _ranks(
    instance: Instance, functions: tuple[str, ...], ranking: Ranking, mixed: Sequence[Scored]
) -> Ranks:
    files = first_ranks(ranking.files)
    units, places = first_ranks(ranking.functions), first_ranks(mixed)
    return Ranks(
        worst(files, [f"{path}::" for path in instance.files]),
        best(units, functions),
        worst(units, functions),
        worst(places, instance.functions),
    )


def _ablated(arrays: Arrays, measured: Signals) -> Iterator[tuple[str, Ranking]]:
    """All weights equal; then without each signal, of files and of functions alike."""
    whole, parts = weights.FILE, weights.UNIT
    yield "all weights equal", fuse(arrays, measured, weights.equal(whole), weights.equal(parts))
    for name in dict.fromkeys([*whole, *parts]):
        yield (
            f"without: {name}",
            fuse(arrays, measured, _without(whole, name), _without(parts, name)),
        )
    for name in whole:
        if whole[name] > 0:
            yield f"files by this alone: {name}", fuse(arrays, measured, {name: 1.0}, parts)


def _without(by_name: Mapping[str, float], name: str) -> dict[str, float]:
    return {key: value for key, value in by_name.items() if key != name}
