"""The regression suite on one patch: which of the base's tests it loses. Source: method.md §3.3.3.

A test that was not run is neither kept nor lost, and is counted as such.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pipeline.evidence.bench import Bench, in_fresh_copies, is_forged
from pipeline.evidence.runs import contradicts, target_of
from sandbox.base import TestRun, TestStatus, Workspace

# A patch that loses more tests than this broke them: none is run again to see whether it is flaky.
MAX_RERUNS = 8


@dataclass(frozen=True, slots=True)
class Part:
    """Test files to run instead of the whole suite, and what passes on the base that way.

    `batches` are lists of files that one call of the runner takes, nearest to the change first;
    `seconds` is what they took on the base. `odd` tells that report and exit code disagree there,
    as where a part of the suite does not reach the coverage asked of all of it.
    """

    batches: tuple[tuple[str, ...], ...] = ()
    tests: tuple[str, ...] = ()
    seconds: float = 0.0
    odd: bool = False


@dataclass(frozen=True, slots=True)
class Suite:
    """What the suite, or a part of it, did with one patch.

    `lost` are stable passes of the base that did not pass, the excluded ones among them. `part`
    are the tests that were run, None for all of them. `ran` is False without a verdict.
    """

    ran: bool = False
    lost: tuple[str, ...] = ()
    part: tuple[str, ...] | None = None
    note: str = ""
    timed_out: bool = False


async def run_suite(patch: str, bench: Bench, part: Part | None = None) -> Suite:
    """The suite on a patch, all of it or a part; lost tests are run once more.

    Costs one workspace, another one when it fails, and one for each lost test up to 8.
    """
    batches = part.batches if part is not None else bench.batches
    tests = frozenset(part.tests) if part is not None else bench.environment.stable_passes
    base = bench.environment.baseline

    async def work(workspace: Workspace, snapshot: str) -> TestRun | str:
        run = await run_batches(workspace, batches)
        if not run.timed_out and not run.results:
            return run.why or "it ended early"
        if base is not None and base.structured and not run.structured and run.exit_code == 0:
            return "it left no report although it says that all is well"
        forged = is_forged(run, base) if part is None else contradicts(run) and not part.odd
        return "its report and its exit code contradict each other" if forged else run

    found = await in_fresh_copies(patch, bench, work)
    if isinstance(found, str):
        return Suite(note=f"The test suite gave no verdict on it: {found.rstrip('.')}.")
    if found.timed_out:
        return Suite(note="The test suite did not end in time on it.", timed_out=True)
    lost = sorted(tests - found.with_status("pass"))
    flaky = await _pass_alone([test for test in lost if test in bench.wanted], patch, bench)
    note = f"Failed once and passed when run again: {', '.join(flaky)}." if flaky else ""
    kept = None if part is None else tuple(sorted(tests))
    return Suite(True, tuple(test for test in lost if test not in flaky), kept, note)


async def run_batches(workspace: Workspace, batches: Collection[Sequence[str]]) -> TestRun:
    """Calls of the runner one after the other as one run; no verdict of one is none of all.

    An empty batch is the whole suite. Where exit codes differ the first that is not 0 counts.
    """
    runs: list[TestRun] = []
    for batch in batches:
        runs.append(await workspace.test(tuple(batch)))
        if not has_verdict(runs[-1]):
            break
    return joined(runs)


def has_verdict(run: TestRun) -> bool:
    """Whether a run ended and said something of some test."""
    return not run.timed_out and bool(run.results) and run.exit_code is not None


def joined(runs: Sequence[TestRun]) -> TestRun:
    """Runs of several parts, at least one, as one run; the first without a verdict is it. Pure."""
    results: dict[str, TestStatus] = {}
    seconds, code, structured, output = 0.0, 0, True, ""
    for run in runs:
        seconds += run.duration_s
        if not has_verdict(run):
            return replace(run, results={}, duration_s=seconds)
        results |= run.results
        code, structured, output = (
            code or run.exit_code or 0,
            structured and run.structured,
            run.output,
        )
    return TestRun(results, code, seconds, timed_out=False, structured=structured, output=output)


async def _pass_alone(lost: Sequence[str], patch: str, bench: Bench) -> tuple[str, ...]:
    """Of the lost tests those that pass when they are run once more, alone where that works.

    Each in a fresh copy: the first run was code of the patch, and may have changed its own tools.
    """
    if len(lost) > MAX_RERUNS:
        return ()
    flaky = []
    for test in lost:
        target = target_of(test, bench.environment.plan)

        async def work(
            workspace: Workspace, snapshot: str, target: str | None = target
        ) -> TestRun | str:
            return await run_batches(workspace, ((target,),) if target else bench.batches)

        run = await in_fresh_copies(patch, bench, work)
        if isinstance(run, str) or run.timed_out or is_forged(run, bench.environment.baseline):
            continue
        if test in run.with_status("pass"):
            flaky.append(test)
    return tuple(flaky)
