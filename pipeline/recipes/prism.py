"""Prism: explore globally, vary locally, synthesise, write patches, then evidence and a vote.

Source: Prism, the four stages with the paper's counts 3 + 6 + 3 = 12 (method.md §2.1).
"""

from functools import partial

from pipeline.decide import assess, decide
from pipeline.explore.code import show_code, write_patch
from pipeline.explore.sample import sample_contrast
from pipeline.explore.state import Exploration, Explored
from pipeline.explore.synthesize import materials, synthesize
from pipeline.explore.vary import vary
from pipeline.items import side_by_side
from pipeline.recipes.effort import Wave, enough, left_out, lost_notes, waves
from pipeline.refusals import require_willing
from pipeline.values import Candidate, Decision


async def prism(x: Exploration) -> Decision:
    """The whole method for one issue."""
    config = x.services.config
    globals_ = await sample_contrast(x, config.n_global)
    locals_ = await _locals(x, globals_, config.n_local)
    syntheses = await _syntheses(x, globals_[: config.n_synthesis], globals_ + locals_)
    explored = globals_ + locals_ + syntheses
    require_willing([each.exit_status for each in explored])
    candidates, not_run = await _patches(await show_code(x, explored), explored)
    require_willing([each.exit_status for each in candidates])
    ended = {each.exit_status for each in explored} | {each.exit_status for each in candidates}
    notes = lost_notes(explored, candidates)
    return await decide(x, candidates, notes, not_run, out_of_budget="budget" in ended)


async def _locals(x: Exploration, parents: tuple[Explored, ...], n: int) -> tuple[Explored, ...]:
    """Parents side by side, the branches of one parent in sequence."""

    async def told(done: int) -> None:
        await x.services.progress.update("local", done * n, len(parents) * n)

    work = [partial(vary, x, parent, n) for parent in parents]
    branches = await side_by_side(x.services.config.max_parallel, work, told)
    return tuple(branch for family in branches for branch in family)


async def _syntheses(
    x: Exploration, spines: tuple[Explored, ...], pool: tuple[Explored, ...]
) -> tuple[Explored, ...]:
    """One unified plan for each global solution that has a plan, over everything explored."""
    usable = [(k, spine) for k, spine in enumerate(spines, 1) if spine.plan is not None]
    material = await materials(x, [spine for _, spine in usable], pool)

    async def told(done: int) -> None:
        await x.services.progress.update("synthesis", done, len(usable))

    work = [
        partial(synthesize, x, k, spine, its)
        for (k, spine), its in zip(usable, material, strict=True)
    ]
    return await side_by_side(x.services.config.max_parallel, work, told)


async def _patches(
    x: Exploration, explored: tuple[Explored, ...]
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """A coder for every plan, wave by wave until that is enough; and what was not run, and why."""
    plans = waves(x.services.config, explored)
    candidates: tuple[Candidate, ...] = ()
    reason = ""
    for number, wave in enumerate(plans, 1):
        candidates += await _coded(x, wave, len(candidates))
        remaining = sum(map(len, plans[number:]))
        if remaining and (
            reason := enough(x.services.config, await assess(x, candidates), remaining)
        ):
            break
    ran = {each.id for each in candidates}
    return candidates, left_out([each for each in explored if each.id not in ran], reason)


async def _coded(x: Exploration, wave: Wave, before: int) -> tuple[Candidate, ...]:
    """A coder for every plan of a wave; `before` have coded already."""

    async def told(done: int) -> None:
        await x.services.progress.update("code", before + done, before + len(wave))

    work = [partial(write_patch, x, each) for each in wave]
    return await side_by_side(x.services.config.max_parallel, work, told)
