"""Which test files to run first, and how many, where running all of them takes too long.

Source: method.md §3.3.3: tests that import or use what is touched, then the same package and
directory, then the rest while time remains.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pipeline.evidence.bench import Bench, in_fresh_copies
from pipeline.evidence.policy_paths import is_test_file
from pipeline.evidence.regression import Part, has_verdict, joined, run_batches
from pipeline.evidence.runs import contradicts, file_of
from pipeline.index.errors import IndexingFailed
from pipeline.index.rank.proximity import nearest, nearest_tests
from pipeline.index.store import Index
from pipeline.index.values import ParsedFile
from pipeline.services import CodeIndex
from sandbox.base import TestRun, Workspace

BATCH_CHARS = 60_000  # one argument of the kernel's holds twice as much
ROUNDS = 4
STEP = 8.0  # times fewer tests after some that gave no verdict, at most so many more after others


@dataclass(frozen=True, slots=True)
class Order:
    """Test files nearest first with their estimated seconds; the first `near` are related."""

    files: tuple[tuple[str, float], ...]
    near: int

    def within(self, seconds: float, start: int = 0, end: int | None = None) -> int:
        """Where the files from `start` that fit into `seconds` end; at least one fits."""
        for at in range(start, len(self.files) if end is None else end):
            seconds -= self.files[at][1]
            if seconds < 0:
                return max(at, start + 1)
        return len(self.files) if end is None else end


async def order_tests(index: CodeIndex | None, bench: Bench, edits: Collection[str]) -> Order:
    """All test files of the suite for what a pool edits (`path` or `path:Qual.Name`).

    Nearest by the index, without one by names and folders. The base's duration is spread over the
    files by their numbers of tests. No files where ids do not lead to any.
    """
    seconds = _seconds(bench, await bench.source.files())
    opened = await index.opened() if index is not None else None
    near: list[str] = []
    if opened is not None:
        near = await asyncio.to_thread(_near, opened, edits, seconds)
    if not near:
        empty = {path: ParsedFile("", 0) for path in seconds}
        near = nearest({each.partition(":")[0] for each in edits}, (), empty)
    folders = frozenset(part for each in edits for part in each.partition(":")[0].split("/")[:-1])
    rest = sorted(
        seconds.keys() - set(near),
        key=lambda path: (-len(folders & set(path.split("/")[:-1])), path),
    )
    return Order(tuple((path, seconds[path]) for path in (*near, *rest)), len(near))


def _near(index: Index, edits: Collection[str], tests: Collection[str]) -> list[str]:
    try:
        found = nearest_tests(index, edits, limit=100_000)
    except IndexingFailed:
        return []
    return [path for path in found if path in tests]


def _seconds(bench: Bench, files: Iterable[str]) -> dict[str, float]:
    """Test files of the suite with their share of the base's duration."""
    baseline = bench.environment.baseline
    if baseline is None:
        return {}
    known = frozenset(files)
    counts = Counter(path for test in baseline.results if (path := file_of(test, known)))
    if not counts:  # ids of packages, crates and classes name no file
        counts = Counter(path for path in known if is_test_file(path))
    total = counts.total()
    return {path: baseline.duration_s * count / total for path, count in counts.items()}


@dataclass(frozen=True, slots=True)
class Measured:
    """The first files of an order, in lists for one call each, and what they did on the base."""

    batches: tuple[tuple[str, ...], ...]
    run: TestRun


async def run_nearest(
    order: Order, bench: Bench, seconds: float, end: int | None = None, scale: float = 1.0
) -> Measured | None:
    """Run the first files of an order that take about `seconds` on the base.

    `scale` is how much longer they may take than the order says. More of them are run while that
    left half of the time. Where the first gave no verdict it takes fewer, and it goes past a
    single one. Costs one workspace for each of at most four rounds, two where one is lost. None
    when no part gave a verdict.
    """
    batches: tuple[tuple[str, ...], ...] = ()
    runs: list[TestRun] = []
    at, stop = 0, len(order.files) if end is None else end
    for _ in range(ROUNDS):
        left = seconds - sum(run.duration_s for run in runs)
        if at >= stop or (at and left < seconds / 2):
            break
        upto = order.within(left / scale, at, stop)
        files = order.files[at:upto]
        wanted = _batches([path for path, _ in files])
        run = await run_once(wanted, bench)
        if run is None:
            if runs:
                break
            if len(files) > 1:
                scale *= STEP
            else:
                at = upto
            continue
        estimate = sum(cost for _, cost in files)
        scale = max(run.duration_s / estimate, scale / STEP) if estimate else 1.0
        batches, at = batches + wanted, upto
        runs.append(run)
    return Measured(batches, joined(runs)) if runs else None


async def measured(order: Order, bench: Bench, seconds: float, end: int | None = None) -> Part:
    """The first files of an order that take about `seconds`, as they pass on the base.

    Costs what `run_nearest` does. No tests in it when parts cannot be run.
    """
    found = await run_nearest(order, bench, seconds, end)
    if found is None:
        return Part()
    passing = found.run.with_status("pass") & bench.environment.stable_passes
    odd = contradicts(found.run)
    return Part(found.batches, tuple(sorted(passing)), found.run.duration_s, odd)


async def run_once(batches: Sequence[Sequence[str]], bench: Bench) -> TestRun | None:
    """Files of tests on the base, in a fresh workspace; None without a verdict."""

    async def work(workspace: Workspace, snapshot: str) -> TestRun | str:
        run = await run_batches(workspace, batches)
        return run if run.results or run.timed_out else "no verdict"

    found = await in_fresh_copies("", bench, work)
    return found if isinstance(found, TestRun) and has_verdict(found) else None


def _batches(files: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Files in lists that fit on a command line, their names quoted."""
    batches: list[list[str]] = [[]]
    room = BATCH_CHARS
    for path in files:
        cost = len(path.encode("utf-8", "surrogateescape")) + 3
        if cost > room and batches[-1]:
            batches.append([])
            room = BATCH_CHARS
        batches[-1].append(path)
        room -= cost
    return tuple(tuple(batch) for batch in batches)
