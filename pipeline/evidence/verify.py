"""What the harness sees of each candidate, all of it in fresh workspaces.

Source: method.md §2.3.6: static checks, then every validated reproduction of the pool on every
candidate (cross tests), then the regression suite for those that can still win.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pipeline.choose.edit import edit_of
from pipeline.choose.litter import litter
from pipeline.choose.order import natural
from pipeline.evidence.bench import Bench
from pipeline.evidence.cross_tests import Crossed, beaten, cross_test
from pipeline.evidence.items import cross_item, keep_evidence, reproduction_item
from pipeline.evidence.policy import check_patch
from pipeline.evidence.policy_paths import judges
from pipeline.evidence.regression import Suite, run_suite
from pipeline.evidence.reproductions import OpenWorkspace, Validation, collect, validate
from pipeline.evidence.same import runs_as
from pipeline.evidence.static import static_check, undefined_names
from pipeline.evidence.suites import Verdict, run_suites
from pipeline.items import side_by_side, step
from pipeline.services import Services
from pipeline.values import (
    Candidate,
    CheckStatus,
    Evidence,
    Exclusion,
    PolicyVerdict,
    Reproduced,
    Reproduction,
)
from sandbox.base import Environment
from sandbox.patch.patch import PatchError, changed_lines, paths, without_paths

Statuses = Mapping[str, CheckStatus]


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a candidate before anything runs.

    `patch` is what runs: the candidate's without its changes to tests and their settings, which
    is held against the base's tests and those of the pool, never against its own. `program` is
    the same for patches that run as one, "" when nothing is to be run.
    """

    seen: Evidence
    patch: str = ""
    program: str = ""


async def verify_pool(
    services: Services,
    environment: Environment,
    candidates: Sequence[Candidate],
    exclusions: Sequence[Exclusion] = (),
) -> tuple[dict[str, Evidence], tuple[Reproduced, ...]]:
    """Evidence of every candidate by id in natural order, and the validated reproductions.

    May be called again with a larger pool: what ran is read back, new reproductions run on the
    old candidates too. Patches that are the same program run once. Costs one workspace for each
    new text of a reproduction, one for each new program and reproduction, and one for the suite
    of each program that can still win, more where it loses tests; `max_parallel_tests` at a time.
    """
    opener: OpenWorkspace = partial(services.sandbox.workspace, environment, "verify", services.run)
    excluded = tuple(sorted({each.test for each in exclusions} & environment.stable_passes))
    bench = Bench(services.source, environment, opener, excluded=excluded)
    validation = await _validated(services, candidates, bench)
    bench = replace(bench, reproductions=validation.validated)
    await services.progress.update("verify", 0, len(candidates), _said(validation))
    ordered = sorted(candidates, key=lambda each: natural(each.id))
    found = await side_by_side(
        services.config.max_parallel_tests, [partial(check, each, bench) for each in ordered]
    )
    checked = {each.seen.candidate: each for each in found}
    crossed = await _crossed(services, checked, bench)
    seen = {
        name: replace(each.seen, reproductions=crossed.get(each.program, each.seen.reproductions))
        for name, each in checked.items()
    }
    evidence = await _with_suites(services, checked, seen, bench)
    for each in evidence.values():
        await keep_evidence(services.journal, each)
    return evidence, validation.validated


async def verify(candidate: Candidate, bench: Bench) -> Evidence:
    """Everything about one candidate alone; a workspace that fails is replaced once, then noted.

    Nothing runs for a patch that is refused, does not apply, does not parse, uses names that
    nothing defines, or changes nothing.
    """
    checked = await check(candidate, bench)
    if not checked.program:
        return checked.seen
    statuses = {
        each.id: (await cross_test(each, checked.patch, bench)).status
        for each in bench.reproductions
    }
    suite = await run_suite(checked.patch, bench) if bench.wanted else Suite()
    return composed(replace(checked.seen, reproductions=statuses), suite, bench)


async def check(candidate: Candidate, bench: Bench) -> Checked:
    """Policy and static checks: does it apply, parse, define its names; and what it changes."""
    verdict = check_patch(candidate.patch)
    if not verdict.ok:
        return Checked(_nothing(candidate, verdict, verdict.refused[0]))
    checked = await static_check(candidate.patch, bench.source)
    if not checked.applies:
        return Checked(_nothing(candidate, verdict, checked.note))
    patch = without_paths(candidate.patch, list(filter(judges, paths(candidate.patch))))
    fix = without_paths(patch, litter(patch))
    edit = await edit_of(fix, checked.before, checked.after)
    if not edit.key:  # files left lying about count only when there is nothing else
        edit = await edit_of(patch, checked.before, checked.after)
    undefined = await undefined_names(checked, paths(fix), bench.source)
    seen = Evidence(
        candidate=candidate.id,
        policy=verdict,
        applies=True,
        parses=checked.parses,
        edit=edit,
        changed_lines=changed_lines(candidate.patch),
        excluded=bench.excluded,
        reproductions=_unknown(bench),
        note=checked.note,
        undefined=undefined,
    )
    runs = checked.parses and bool(edit.key) and not undefined
    return Checked(seen, patch, runs_as(patch, checked.after)) if runs else Checked(seen)


def composed(seen: Evidence, suite: Suite, bench: Bench, skipped: str = "") -> Evidence:
    """The evidence with what the suite said. Pure.

    Exclusions count as they are now: tests that a smaller pool counted may be left out since.
    """
    wanted = bench.wanted
    ran = (wanted if suite.part is None else wanted & set(suite.part)) if suite.ran else frozenset()
    lost = tuple(test for test in suite.lost if test in wanted)
    return replace(
        seen,
        regression_ran=suite.ran,
        regression_passed=len(ran) - len(lost),
        lost=lost,
        not_run=len(wanted) - len(ran) if suite.ran or skipped else 0,
        skipped=skipped,
        note=" ".join(filter(None, (seen.note, suite.note))),
    )


async def _validated(
    services: Services, candidates: Sequence[Candidate], bench: Bench
) -> Validation:
    """Each text once, whoever wrote it first."""
    files = await services.source.files()
    runner = bench.environment.plan.runner

    async def one(each: Reproduction) -> Validation:
        async def work(attempt: int) -> Validation:
            return await validate([each], bench.open_workspace, files, runner)

        return await step(services.journal, "verify", reproduction_item(each), Validation, work)

    found = await side_by_side(
        services.config.max_parallel_tests, [partial(one, each) for each in collect(candidates)]
    )
    return Validation(
        tuple(kept for each in found for kept in each.validated),
        tuple(said for each in found for said in each.rejected),
    )


def _said(validation: Validation) -> str:
    kept, turned_down = len(validation.validated), len(validation.rejected)
    return f"{kept} of {kept + turned_down} reproductions fail on the base commit as they should"


async def _crossed(
    services: Services, checked: Mapping[str, Checked], bench: Bench
) -> dict[str, Statuses]:
    """What each reproduction did on each program."""
    programs = {each.program: each.patch for each in checked.values() if each.program}
    pairs = [(program, each) for program in programs for each in bench.reproductions]

    async def one(program: str, each: Reproduced) -> Crossed:
        async def work(attempt: int) -> Crossed:
            return await cross_test(each, programs[program], bench)

        item = cross_item(program, each.reproduction)
        return await step(services.journal, "verify", item, Crossed, work)

    found = await side_by_side(
        services.config.max_parallel_tests, [partial(one, *pair) for pair in pairs]
    )
    statuses: dict[str, dict[str, CheckStatus]] = {program: {} for program in programs}
    for (program, each), crossed in zip(pairs, found, strict=True):
        statuses[program][each.id] = crossed.status
    return dict(statuses)


async def _with_suites(
    services: Services, checked: Mapping[str, Checked], seen: Mapping[str, Evidence], bench: Bench
) -> dict[str, Evidence]:
    """The evidence with the suite's verdict on every candidate that can still win."""
    out = beaten(seen, bench)
    programs = {
        each.program: each.patch
        for name, each in checked.items()
        if each.program and name not in out
    }
    edits = {symbol.removesuffix(":") for each in seen.values() for symbol in _edits(each)}
    idle = len(checked) - sum(each.program in programs for each in checked.values())

    async def told(done: int) -> None:
        ran = list(programs)[:done]
        count = sum(each.program in ran for each in checked.values())
        await services.progress.update("verify", idle + count, len(checked))

    await services.progress.update("verify", idle, len(checked))
    verdicts = await run_suites(services, bench, programs, edits, told)
    evidence = {}
    for name, each in checked.items():
        verdict = verdicts.get(each.program, Verdict(Suite()))
        skipped = out.get(name, "") if each.program and bench.wanted else ""
        evidence[name] = composed(seen[name], verdict.suite, bench, skipped or verdict.skipped)
    return evidence


def _edits(seen: Evidence) -> Sequence[str]:
    """What a candidate edits, as the index names it: definitions, else whole files."""
    return seen.edit.symbols or seen.edit.files


def _unknown(bench: Bench) -> dict[str, CheckStatus]:
    return {each.id: "missing" for each in bench.reproductions}


def _nothing(candidate: Candidate, verdict: PolicyVerdict, note: str) -> Evidence:
    try:
        lines = changed_lines(candidate.patch)
    except PatchError:
        lines = 0
    return Evidence(candidate.id, verdict, False, False, changed_lines=lines, note=note)
