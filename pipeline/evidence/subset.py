"""A suite that does not end on the base: its tests nearest to the issue stand for it.

Source: method.md §3.3.3, proximity order and time budget. Chosen before any patch exists, so that
every candidate is held against the same tests, and the Test agent can be asked about them.
"""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from pipeline.evidence.bench import Bench
from pipeline.evidence.near import likely_files
from pipeline.evidence.order import Order, order_tests, run_nearest, run_once
from pipeline.index.errors import IndexingFailed
from pipeline.items import step
from pipeline.services import Services
from sandbox.base import Environment, TestRun

OUTPUT_KEPT = 4000  # characters of a run's output
CAUTION = 4.0  # all tests took longer than they were given, nobody knows by how much


@dataclass(frozen=True, slots=True)
class Subset:
    """Test files in lists for one call of the runner each, and their two runs on the base."""

    batches: tuple[tuple[str, ...], ...] = ()
    first: TestRun | None = None
    again: TestRun | None = None


async def nearest_subset(services: Services, issue: str, environment: Environment) -> Environment:
    """The environment with base runs of a part of the suite, where all of it did not end in time.

    Related files that fit into the time for a suite, or into half of what the base run was given
    when that is less; others only where no related one gives a verdict, for one of these may be
    what does not end. Costs up to eight workspaces and the runs in them, one for the second run;
    none where the suite ended, or a second time in one run. `environment` itself where no part
    gives a verdict.
    """
    whole = environment.baseline
    if whole is None or not whole.timed_out or environment.targets:
        return environment

    async def work(attempt: int) -> Subset:
        return await _subset(services, issue, environment, whole)

    found = await step(services.journal, "environment", "subset", Subset, work)
    if found.first is None or found.again is None:
        return environment
    return replace(
        environment, baseline=found.first, baseline_again=found.again, targets=found.batches
    )


async def _subset(
    services: Services, issue: str, environment: Environment, whole: TestRun
) -> Subset:
    opener = partial(services.sandbox.workspace, environment, "verify", services.run)
    bench = Bench(services.source, environment, opener)
    title, _, body = issue.partition("\n")
    index = await services.index.opened() if services.index is not None else None
    places: list[str] = []
    if index is not None:
        try:
            places = await asyncio.to_thread(likely_files, index, title, body)
        except IndexingFailed:
            index = None
    if not places:
        places = [path for path in await services.source.files() if "/" in path and path in issue]
    order = await order_tests(services.index, bench, places)
    seconds = min(services.config.test_budget_s or whole.duration_s, whole.duration_s / 2)
    near, rest = Order(order.files[: order.near], 0), Order(order.files[order.near :], 0)
    found = await run_nearest(near, bench, seconds, scale=CAUTION)
    if found is None:
        found = await run_nearest(rest, bench, seconds, scale=CAUTION)
    again = await run_once(found.batches, bench) if found is not None else None
    if found is None or again is None:
        return Subset()
    return Subset(found.batches, _cut(found.run), _cut(again))


def _cut(run: TestRun) -> TestRun:
    return replace(run, output=run.output[-OUTPUT_KEPT:])
