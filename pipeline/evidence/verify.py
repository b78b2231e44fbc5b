"""What the harness sees of each candidate, all of it in fresh workspaces.

Source: method.md §2.3.6: static checks, then the regression suite, then every validated
reproduction of the pool on every candidate (cross tests).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from pipeline.choose.edit import edit_of
from pipeline.choose.litter import litter
from pipeline.choose.order import natural
from pipeline.evidence.policy import check_patch
from pipeline.evidence.policy_paths import judges
from pipeline.evidence.reproductions import (
    OpenWorkspace,
    Validation,
    collect,
    run_reproduction,
    validate,
)
from pipeline.evidence.runs import check_status, contradicts, target_of
from pipeline.evidence.static import StaticCheck, static_check
from pipeline.items import side_by_side, step
from pipeline.services import Services
from pipeline.values import (
    Candidate,
    CheckStatus,
    Edit,
    Evidence,
    Exclusion,
    PolicyVerdict,
    Reproduced,
)
from sandbox.base import Environment, Source, TestRun, Workspace
from sandbox.errors import EngineUnavailable, SandboxError
from sandbox.patch.patch import PatchError, changed_lines, paths, without_paths

T = TypeVar("T")

# A patch that loses more tests than this broke them: none is run again to see whether it is flaky.
MAX_RERUNS = 8


@dataclass(frozen=True, slots=True)
class Bench:
    """What every candidate of a pool is held against."""

    source: Source
    environment: Environment
    open_workspace: OpenWorkspace
    reproductions: tuple[Reproduced, ...] = ()
    excluded: tuple[str, ...] = ()

    @property
    def wanted(self) -> frozenset[str]:
        """T_final: passes on the base twice, minus the named exclusions."""
        return self.environment.stable_passes - set(self.excluded)


@dataclass(frozen=True, slots=True)
class _Regression:
    ran: bool = False
    passed: int = 0
    lost: tuple[str, ...] = ()
    note: str = ""


async def verify_pool(
    services: Services,
    environment: Environment,
    candidates: Sequence[Candidate],
    exclusions: Sequence[Exclusion] = (),
) -> tuple[dict[str, Evidence], tuple[Reproduced, ...]]:
    """Evidence of every candidate by id in natural order, and the validated reproductions.

    Candidates with the same patch text are verified once. Journal items: `verify/reproductions`
    and `verify/<id>`; finished ones are read back. Costs one workspace for each different
    reproduction, and for each different patch one, one more per lost test (up to 8) and per
    reproduction,
    `max_parallel_tests` at a time.
    """
    opener: OpenWorkspace = partial(services.sandbox.workspace, environment, "verify", services.run)
    validation = await _validated(services, environment, candidates, opener)
    bench = Bench(
        services.source,
        environment,
        opener,
        validation.validated,
        tuple(sorted({each.test for each in exclusions} & environment.stable_passes)),
    )
    groups = _same_patch(candidates)
    done = 0
    evidence: dict[str, Evidence] = {}

    async def one(group: Sequence[Candidate]) -> None:
        nonlocal done
        evidence.update(await _verify_group(services, bench, group))
        done += len(group)
        await services.progress.update("verify", done, len(candidates))

    await services.progress.update("verify", 0, len(candidates), _said(validation))
    await side_by_side(
        services.config.max_parallel_tests, [partial(one, group) for group in groups]
    )
    ordered = {name: evidence[name] for name in sorted(evidence, key=natural)}
    return ordered, validation.validated


async def verify(candidate: Candidate, bench: Bench) -> Evidence:
    """Everything about one candidate; a workspace that fails is replaced once, then noted.

    Nothing runs for a patch that is refused, does not apply, does not parse or changes nothing.
    What runs is the patch without its changes to tests and their settings: it is held against
    the base's tests and those of the pool, never against its own.
    """
    verdict = check_patch(candidate.patch)
    if not verdict.ok:
        return _nothing(candidate, verdict, verdict.refused[0])
    checked = await static_check(candidate.patch, bench.source)
    if not checked.applies:
        return _nothing(candidate, verdict, checked.note)
    source_patch = without_paths(candidate.patch, list(filter(judges, paths(candidate.patch))))
    seen = await _static(candidate, source_patch, verdict, checked, bench)
    if not checked.parses or not seen.key:
        return seen
    regression = await _regression(source_patch, bench)
    return replace(
        seen,
        regression_ran=regression.ran,
        regression_passed=regression.passed,
        lost=regression.lost,
        reproductions={
            each.id: await _cross_test(each, source_patch, bench) for each in bench.reproductions
        },
        note=" ".join(filter(None, (seen.note, regression.note))),
    )


async def _validated(
    services: Services,
    environment: Environment,
    candidates: Sequence[Candidate],
    opener: OpenWorkspace,
) -> Validation:
    async def work(attempt: int) -> Validation:
        files = await services.source.files()
        runner, limit = environment.plan.runner, services.config.max_parallel_tests
        return await validate(collect(candidates), opener, files, runner, limit)

    return await step(services.journal, "verify", "reproductions", Validation, work)


def _said(validation: Validation) -> str:
    kept, turned_down = len(validation.validated), len(validation.rejected)
    return f"{kept} of {kept + turned_down} reproductions fail on the base commit as they should"


def _same_patch(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda each: natural(each.id)):
        groups.setdefault(candidate.patch, []).append(candidate)
    return list(groups.values())


async def _verify_group(
    services: Services, bench: Bench, group: Sequence[Candidate]
) -> Mapping[str, Evidence]:
    """The first of the group is verified, the others get the same evidence under their names."""
    found: dict[str, Evidence] = {}
    for candidate in group:
        first = next(iter(found.values()), None)

        async def work(
            attempt: int, candidate: Candidate = candidate, first: Evidence | None = first
        ) -> Evidence:
            if first is None:
                return await verify(candidate, bench)
            return replace(first, candidate=candidate.id)

        found[candidate.id] = await step(services.journal, "verify", candidate.id, Evidence, work)
    return found


def _nothing(candidate: Candidate, verdict: PolicyVerdict, note: str) -> Evidence:
    try:
        lines = changed_lines(candidate.patch)
    except PatchError:
        lines = 0
    return Evidence(candidate.id, verdict, False, False, changed_lines=lines, note=note)


async def _static(
    candidate: Candidate,
    source_patch: str,
    verdict: PolicyVerdict,
    checked: StaticCheck,
    bench: Bench,
) -> Evidence:
    edit = await _edit(source_patch, checked)
    return Evidence(
        candidate=candidate.id,
        policy=verdict,
        applies=True,
        parses=checked.parses,
        key=edit.key,
        edit=edit,
        changed_lines=changed_lines(candidate.patch),
        excluded=bench.excluded,
        reproductions={each.id: "missing" for each in bench.reproductions},
        note=checked.note,
    )


async def _edit(source_patch: str, checked: StaticCheck) -> Edit:
    """What the patch changes; files left lying about count only when there is nothing else."""
    fix = without_paths(source_patch, litter(source_patch))
    edit = await edit_of(fix, checked.before, checked.after)
    return edit if edit.key else await edit_of(source_patch, checked.before, checked.after)


async def _in_fresh_copies(
    patch: str, bench: Bench, work: Callable[[Workspace, str], Awaitable[T | None]]
) -> T | str:
    """What `work` finds in a fresh workspace with the patch; a second one when that fails.

    `work` gets the workspace and the snapshot to go back to, and returns None for no verdict.
    The reason in words when there is none in the second workspace either.
    """
    reason = "It gave no verdict."
    for _ in range(2):
        try:
            async with bench.open_workspace() as workspace:
                applied = await workspace.apply(patch)
                if not applied.ok:
                    return f"git does not apply it: {applied.output.strip()[:300]}"
                found = await work(workspace, await workspace.snapshot())
        except EngineUnavailable:
            raise
        except SandboxError as error:
            reason = f"The workspace could not be used any more: {error}"
            continue
        if found is not None:
            return found
    return reason


async def _regression(patch: str, bench: Bench) -> _Regression:
    wanted = bench.wanted
    if not wanted:
        return _Regression()

    async def work(workspace: Workspace, snapshot: str) -> TestRun | None:
        run = await workspace.test()
        no_verdict = not run.timed_out and not run.results
        return None if no_verdict or _is_forged(run, bench.environment.baseline) else run

    found = await _in_fresh_copies(patch, bench, work)
    if isinstance(found, str):
        return _Regression(note=f"The test suite: {found}")
    if found.timed_out:
        return _Regression(note="The test suite did not end in time.")
    lost = sorted(wanted - found.with_status("pass"))
    flaky = await _pass_alone(lost, patch, bench)
    note = f"Failed once and passed when run again: {', '.join(flaky)}." if flaky else ""
    still_lost = tuple(test for test in lost if test not in flaky)
    return _Regression(True, len(wanted) - len(still_lost), still_lost, note)


def _is_forged(run: TestRun, baseline: TestRun | None) -> bool:
    """Whether report and exit code disagree although they agreed on the base."""
    return contradicts(run) and not (baseline is not None and contradicts(baseline))


async def _pass_alone(lost: Sequence[str], patch: str, bench: Bench) -> tuple[str, ...]:
    """Of the lost tests those that pass when they are run once more, alone where that works.

    Each in a fresh copy: the first run was code of the patch, and may have changed its own tools.
    """
    if len(lost) > MAX_RERUNS:
        return ()
    flaky = []
    for test in lost:
        target = target_of(test, bench.environment.plan)

        async def work(workspace: Workspace, snapshot: str, target: str | None = target) -> TestRun:
            return await workspace.test((target,) if target else ())

        run = await _in_fresh_copies(patch, bench, work)
        if isinstance(run, str) or run.timed_out or _is_forged(run, bench.environment.baseline):
            continue
        if test in run.with_status("pass"):
            flaky.append(test)
    return tuple(flaky)


async def _cross_test(each: Reproduced, patch: str, bench: Bench) -> CheckStatus:
    """One reproduction on one patch, in a copy that no other test has touched."""

    async def work(workspace: Workspace, snapshot: str) -> CheckStatus | None:
        run = await run_reproduction(each.reproduction, workspace, snapshot)
        if _is_forged(run, bench.environment.baseline):
            return None
        status = check_status(run, each.tests, bench.environment.plan.runner)
        return None if status == "missing" else status

    found = await _in_fresh_copies(patch, bench, work)
    return found if found in _STATUSES else "missing"


_STATUSES: frozenset[CheckStatus] = frozenset({"pass", "fail", "error", "timeout"})
