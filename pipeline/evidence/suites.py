"""The suite on every program of a pool: all of it, nearest first, or as much as time allows.

Source: method.md §3.3.3. A suite that takes long is begun with the tests nearest to the change:
what loses one of these is not run further. One that takes longer than its budget is run in part.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

from pipeline.evidence.bench import Bench
from pipeline.evidence.items import part_item
from pipeline.evidence.order import measured, order_tests
from pipeline.evidence.regression import Part, Suite, run_suite
from pipeline.items import side_by_side, step
from pipeline.services import Services

# Seconds of a base run from which on a first look at the nearest tests pays for its container.
NEAR_FIRST_S = 60.0
NEAR_SHARE = 0.25
LOSES = "it loses a test near to the change"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite said, and why the rest of it was left out, "" when it was not."""

    suite: Suite
    skipped: str = ""


async def run_suites(
    services: Services,
    bench: Bench,
    programs: Mapping[str, str],
    edits: Collection[str],
    told: Callable[[int], Awaitable[None]],
) -> dict[str, Verdict]:
    """The suite's verdict on each program (digest to patch); none without tests that pass.

    `edits` is what the pool edits, as `path:Qual.Name` or `path`. Costs one workspace for each
    program and two where the suite takes long, one more for the base then.
    """
    if not bench.wanted:
        return {}
    part, is_all = await _part(services, bench, edits)

    async def one(program: str) -> Verdict:
        patch = programs[program]
        if part is None:
            return Verdict(await _suite(services, "suite", program, patch, bench))
        if is_all:
            said = partial(_partly, bench, part, services.config.test_budget_s)
            return Verdict(await _suite(services, "suite", program, patch, bench, part, said))
        near = await _suite(services, "near", program, patch, bench, part)
        if bench.wanted.intersection(near.lost):
            return Verdict(near, LOSES)
        if near.timed_out:
            return Verdict(near)
        return Verdict(await _suite(services, "suite", program, patch, bench))

    limit = services.config.max_parallel_tests
    found = await side_by_side(limit, [partial(one, program) for program in programs], told)
    return dict(zip(programs, found, strict=True))


async def _part(
    services: Services, bench: Bench, edits: Collection[str]
) -> tuple[Part | None, bool]:
    """What to run first, None for the whole suite at once; and whether that is all to be run."""
    if bench.environment.targets:  # it is a part already, and fits into the time
        return None, False
    baseline, budget = bench.environment.baseline, services.config.test_budget_s
    seconds = baseline.duration_s if baseline is not None else 0.0
    over = bool(budget) and seconds > budget
    if not over and seconds <= NEAR_FIRST_S:
        return None, False

    async def work(attempt: int) -> Part:
        order = await order_tests(services.index, bench, edits)
        if over:
            return await measured(order, bench, budget)
        return await measured(order, bench, seconds * NEAR_SHARE, order.near)

    part = await step(services.journal, "verify", part_item(edits), Part, work)
    if bench.wanted.isdisjoint(part.tests):
        return None, False
    return part, over


async def _suite(
    services: Services,
    kind: str,
    program: str,
    patch: str,
    bench: Bench,
    part: Part | None = None,
    said: Callable[[Suite], Suite] | None = None,
) -> Suite:
    async def work(attempt: int) -> Suite:
        suite = await run_suite(patch, bench, part)
        return said(suite) if said is not None else suite

    return await step(services.journal, "verify", f"{kind}:{program}", Suite, work)


def _partly(bench: Bench, part: Part, budget: float, suite: Suite) -> Suite:
    """The suite with a note that only a part of it was run."""
    baseline = bench.environment.baseline
    seconds = baseline.duration_s if baseline is not None else 0.0
    count = len(bench.environment.stable_passes)
    note = (
        f"The suite takes {seconds:.0f} s on the base, more than the {budget:.0f} s it is given: "
        f"{len(part.tests)} of {count} tests were run, nearest to the change first."
    )
    return replace(suite, note=" ".join(filter(None, (note, suite.note))))
