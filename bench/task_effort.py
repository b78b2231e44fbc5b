"""How many coders an effort needs where tests speak: the product's stop rule, known evidence.

A run has twelve plans. Here each is given one of a task's patches, by chance: the fix to a few of
them, halves, misses and a broken one to the rest. What tests say of each patch is known, so
hundreds of such runs are played without another container, wave by wave as the recipe does.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pipeline.ballot import Pool, ballot_of
from pipeline.decide import Assessed
from pipeline.explore.state import Explored
from pipeline.recipes.effort import enough, waves
from pipeline.services import RunConfig
from pipeline.values import (
    Candidate,
    Decision,
    Evidence,
    Plan,
    Reproduced,
    Reproduction,
    Solution,
    Stage,
)

EFFORTS: Mapping[str, RunConfig] = {
    "full": RunConfig(),
    "full, stopping early": RunConfig(stop_early=True),
    "adaptive": RunConfig(effort="adaptive"),
    "lean": RunConfig(effort="lean"),
}
FIXES = (2, 4, 6)  # of twelve plans
RUNS = 200
_PARENTS: Mapping[str, tuple[str, ...]] = {
    **{f"G{n}": () for n in (1, 2, 3)},
    **{f"L{n}.{m}": (f"G{n}",) for n in (1, 2, 3) for m in (1, 2)},
    **{f"S{n}": (f"G{n}", f"L{n}.1", f"L{n}.2") for n in (1, 2, 3)},
}
_STAGES: Mapping[str, Stage] = {"G": "global", "L": "local", "S": "synthesis"}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a task: each different patch with its evidence, the suite's verdict too.

    The first is the fix. `reproductions` are the fix's tests, whoever is said to have written them.
    """

    task: str
    patches: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    reproductions: tuple[Reproduced, ...]
    has_suite: bool


@dataclass(frozen=True, slots=True)
class Played:
    """Runs with so many fixes among twelve plans: coders on average, percent of right and wrong
    choices; in the others nobody was chosen."""

    effort: str
    fixes: int
    coders: float
    right: float
    wrong: float


def known_of(task: str, gold: str, decision: Decision, suites: Mapping[str, Evidence]) -> Known:
    """Join what reproductions and, on all of them, the suite said of a task's candidates."""
    first = {each.patch: each for each in reversed(decision.candidates)}
    kept = sorted(first.values(), key=lambda each: each.id != gold)
    joined = [
        replace(suites[each.id], reproductions=dict(decision.evidence[each.id].reproductions))
        for each in kept
    ]
    return Known(
        task,
        tuple(each.patch for each in kept),
        tuple(joined),
        decision.reproductions,
        any(each.regression_ran for each in suites.values()),
    )


def play(tasks: Sequence[Known], runs: int = RUNS) -> list[Played]:
    """Each effort with each number of fixes, over all tasks: so many runs of each."""
    found = []
    for fixes in FIXES:
        ends: dict[str, list[tuple[int, str]]] = {effort: [] for effort in EFFORTS}
        for task in tasks:
            for seed in range(runs):
                run = _dealt(task, fixes, random.Random(f"{task.task} {fixes} {seed}"))
                for effort, config in EFFORTS.items():
                    ends[effort].append(_ended(task, run, config))
        found += [_summed(effort, fixes, ends[effort]) for effort in EFFORTS]
    return found


def _summed(effort: str, fixes: int, ends: Sequence[tuple[int, str]]) -> Played:
    count = max(1, len(ends))
    share = {what: 100 * sum(end == what for _, end in ends) / count for what in ("right", "wrong")}
    return Played(
        effort, fixes, sum(used for used, _ in ends) / count, share["right"], share["wrong"]
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """Which patch each plan leads to, and who wrote the reproductions."""

    patch_of: Mapping[str, int]
    author: str


def _dealt(task: Known, fixes: int, chance: random.Random) -> _Run:
    names = sorted(_PARENTS)
    chance.shuffle(names)
    wrong = range(1, len(task.patches))
    patch_of = dict.fromkeys(names[:fixes], 0)
    patch_of |= {name: chance.choice(wrong) for name in names[fixes:]}
    return _Run(patch_of, chance.choice(names))


def _ended(task: Known, run: _Run, config: RunConfig) -> tuple[int, str]:
    """How many coders ran, and whether the choice was right, wrong, or none."""
    planned = waves(config, [_plan(name) for name in sorted(run.patch_of)])
    coded: list[Candidate] = []
    for at, wave in enumerate(planned):
        coded += [_candidate(each.id, task, run) for each in wave]
        seen = _assessed(task, run, tuple(coded), config)
        left = len(list(chain.from_iterable(planned[at + 1 :])))
        if left and enough(config, seen, left):
            break
    winner = seen.ballot.winner
    return len(coded), "none" if winner is None else "wrong" if run.patch_of[winner] else "right"


def _assessed(
    task: Known, run: _Run, candidates: tuple[Candidate, ...], config: RunConfig
) -> Assessed:
    """What the run would know with these candidates: reproductions of a coder that ran."""
    present = {each.id for each in candidates}
    shown = {
        each.id: replace(
            each,
            id=f"{run.author}:{each.reproduction.path}",
            reproduction=replace(each.reproduction, author=run.author),
        )
        for each in (task.reproductions if run.author in present else ())
    }
    evidence = {}
    for each in candidates:
        stored = task.evidence[run.patch_of[each.id]]
        statuses = {shown[name].id: stored.reproductions[name] for name in shown}
        evidence[each.id] = replace(stored, candidate=each.id, reproductions=statuses)
    pool = Pool(candidates, evidence, tuple(shown.values()), (), task.has_suite)
    return Assessed(pool, ballot_of(pool, config))


def _plan(name: str) -> Explored:
    nothing = Plan("", Solution("", "", "", ()), ())
    return Explored(name, _STAGES[name[0]], _PARENTS[name], nothing, None, "submitted")


def _candidate(name: str, task: Known, run: _Run) -> Candidate:
    plan = _plan(name)
    assert plan.plan is not None
    wrote = tuple(
        Reproduction(each.reproduction.path, each.reproduction.text, name)
        for each in task.reproductions
        if name == run.author
    )
    patch = task.patches[run.patch_of[name]]
    return Candidate(name, plan.stage, plan.parents, plan.plan, patch, wrote, "submitted")


def table(played: Sequence[Played]) -> str:
    """One row for each effort and number of fixes, in Markdown."""
    lines = [
        "| fixes among twelve plans | effort | coders | right | wrong | nobody |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in played:
        nobody = 100 - each.right - each.wrong
        lines.append(
            f"| {each.fixes} | {each.effort} | {each.coders:.1f} | {each.right:.1f} % "
            f"| {each.wrong:.1f} % | {nobody:.1f} % |"
        )
    return "\n".join(lines)
