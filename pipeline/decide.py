"""From candidates to a Decision: evidence, the vote, and the patch that gets published."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.ballot import Pool, ballot_of
from pipeline.choose.gate import counted
from pipeline.contest.hold import hold_contest
from pipeline.evidence.exclusions import find_exclusions
from pipeline.evidence.verify import verify_pool
from pipeline.explore.state import Exploration
from pipeline.items import step
from pipeline.notes import baseline_note, environment_note
from pipeline.values import (
    Ballot,
    Candidate,
    Contest,
    Decision,
    Evidence,
    Reproduced,
    Reproduction,
)
from sandbox.patch.patch import combine, paths


@dataclass(frozen=True, slots=True)
class Assessed:
    """Candidates with what is known of each, the ballot over them, and what was missing for it."""

    pool: Pool
    ballot: Ballot
    notes: tuple[str, ...] = ()


async def assess(x: Exploration, candidates: tuple[Candidate, ...]) -> Assessed:
    """Verify every candidate and vote; again with a larger pool costs only what is new.

    At most one model call and one workspace for each different patch. The vote itself is pure.
    """
    found = await find_exclusions(x.services, x.task, x.environment, candidates)
    exclusions, notes = found.exclusions, (found.note,) if found.note else ()
    evidence, reproductions = await verify_pool(x.services, x.environment, candidates, exclusions)
    has_suite = bool(x.environment.stable_passes)
    pool = Pool(candidates, evidence, reproductions, exclusions, has_suite)
    table = x.services.calibration
    return Assessed(pool, ballot_of(pool, x.services.config, table=table), notes)


async def decide(
    x: Exploration,
    candidates: tuple[Candidate, ...],
    notes: tuple[str, ...] = (),
    not_run: tuple[str, ...] = (),
    *,
    out_of_budget: bool = False,
) -> Decision:
    """The end of a run: the winner's patch together with its tests, or that nobody won.

    Costs what `assess` does. `notes` tell of samples that were lost, `not_run` what was left out
    and why, `out_of_budget` that some sample was lost to a used-up budget.
    """
    services, seen = x.services, await assess(x, candidates)
    pool, contest = seen.pool, await _contest(x, seen)
    ballot = seen.ballot
    if contest is not None:
        ballot = ballot_of(pool, services.config, contest, services.calibration)

    async def work(_attempt: int) -> Decision:
        return Decision(
            outcome="patch" if ballot.winner else "no_patch",
            patch=published_patch(ballot, pool.candidates, pool.evidence, pool.reproductions),
            candidates=pool.candidates,
            evidence=pool.evidence,
            ballot=ballot,
            reproductions=pool.reproductions,
            exclusions=pool.exclusions,
            isolation=services.sandbox.isolation,
            environment=environment_note(x.environment),
            baseline=baseline_note(x.environment),
            notes=(*notes, *seen.notes),
            out_of_budget=out_of_budget,
            not_run=not_run,
            contest=contest,
        )

    decision = await step(services.journal, "vote", "decision", Decision, work)
    await services.progress.update("vote", 1, 1, decision.ballot.rule)
    return decision


async def _contest(x: Exploration, seen: Assessed) -> Contest | None:
    """What selectors say of candidates that evidence and vote cannot tell apart."""
    pool = seen.pool
    tied = {each.id: each for each in pool.candidates if each.id in seen.ballot.tie}
    return await hold_contest(x, tied, pool.evidence, pool.reproductions) if tied else None


def published_patch(
    ballot: Ballot,
    candidates: tuple[Candidate, ...],
    evidence: Mapping[str, Evidence],
    reproductions: tuple[Reproduced, ...],
) -> str:
    """The winner's source patch with validated reproductions as new files; "" without a winner.

    A path that the patch itself adds gets the author's id in its name.
    """
    if ballot.winner is None:
        return ""
    (winner,) = (each for each in candidates if each.id == ballot.winner)
    files: dict[str, str] = {}
    taken = set(paths(winner.patch))
    for each in chosen_reproductions(winner.id, evidence, reproductions):
        path = each.path if each.path not in taken else renamed(each)
        taken.add(path)
        files[path] = each.text
    return combine(winner.patch, files)


def chosen_reproductions(
    winner: str, evidence: Mapping[str, Evidence], reproductions: tuple[Reproduced, ...]
) -> tuple[Reproduction, ...]:
    """The reproductions to publish: few, and together as sharp as all of them.

    The winner's own that it passes. When it has none: of the counted ones that it passes,
    greedily those that tell the most candidates from it that no chosen one tells yet.
    """
    passes = evidence[winner].reproductions
    good = [each for each in reproductions if passes.get(each.id) == "pass"]
    own = tuple(each.reproduction for each in good if each.reproduction.author == winner)
    if own:
        return own
    shared = {each.id for each in counted(evidence, reproductions)}
    left = {each.id: _failing(each.id, evidence) for each in good if each.id in shared}
    chosen: list[str] = []
    while left:
        best = max(sorted(left), key=lambda name: len(left[name]))
        told = left.pop(best)
        if chosen and not told:
            break
        chosen.append(best)
        left = {name: failing - told for name, failing in left.items()}
    return tuple(each.reproduction for each in good if each.id in chosen)


def _failing(reproduction: str, evidence: Mapping[str, Evidence]) -> frozenset[str]:
    """Candidates that a reproduction tells from a right one."""
    return frozenset(
        name
        for name, seen in evidence.items()
        if seen.reproductions.get(reproduction) in {"fail", "error", "timeout"}
    )


def renamed(reproduction: Reproduction) -> str:
    """The path a reproduction is published under when its own is taken."""
    name = PurePosixPath(reproduction.path)
    author = reproduction.author.lower().replace(".", "_")
    return str(name.with_name(f"{name.stem}_{author}{name.suffix}"))
