"""Synthesis: two reviews and a judge turn one spine and its rivals into one plan.

Source: Prism, solution synthesis (method.md §2.3.4).
"""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from pipeline.agent.excerpts import excerpts, places_of
from pipeline.explore.asking import ask_or, missing
from pipeline.explore.plan import explored_plan
from pipeline.explore.references import References, read_references
from pipeline.explore.relations import relations_text
from pipeline.explore.reviews import Review, reviews_text
from pipeline.explore.state import Exploration, Explored
from pipeline.items import side_by_side, step
from pipeline.model.ask import NO_ANSWER, ask
from pipeline.model.verdicts import CompletenessVerdict, JudgeVerdict, NeededPlace, RiskVerdict
from pipeline.prompts.blocks import issue_block, plans_text
from pipeline.prompts.render import render
from pipeline.services import CallAddress, SynthesisScope
from pipeline.values import Plan, Synthesis

SPINE_FALLBACK = "spine_fallback"


async def synthesize(
    x: Exploration, number: int, spine: Explored, pool: tuple[Explored, ...]
) -> Explored:
    """S<number>: the spine's plan completed by what the others saw, every change with its source.

    Costs three calls: completeness, regression risk, judge. When the judge's plan stays invalid
    the spine's own plan is kept, with a flag.
    """
    name = f"S{number}"
    plans = in_scope(x.services.config.synthesis_scope, spine, pool)

    async def work(attempt: int) -> Explored:
        at = CallAddress("synthesis", name, "", attempt)
        return await explored_plan(name, "synthesis", (spine.id,), _judged(x, at, spine, plans))

    return await step(x.services.journal, "synthesis", name, Explored, work)


def in_scope(scope: SynthesisScope, spine: Explored, pool: tuple[Explored, ...]) -> dict[str, Plan]:
    """The plans a synthesis sees: all of them, or the spine and the variants of it."""
    return {
        each.id: each.plan
        for each in pool
        if each.plan is not None and (scope == "cross" or spine.id in (each.id, *each.parents))
    }


async def _judged(
    x: Exploration, at: CallAddress, spine: Explored, plans: Mapping[str, Plan]
) -> Explored:
    assert spine.plan is not None
    places = places_of(plans.values())
    material = {
        "issue": issue_block(x.task),
        "plans": plans_text(plans),
        "code": await excerpts(x.workspace, places),
    }
    reviews, lost = await _reviews(x, at, plans, material)
    prompt = render("judge", spine=spine.id, reviews=reviews_text(reviews), **material)
    paths = [*(each.path for each in places), *(each.path for each in _needed(reviews))]
    planned = {change.path for plan in plans.values() for change in plan.changes}
    known = await read_references(x, paths, planned)
    try:
        verdict = await ask(
            x.services.model,
            replace(at, turn="judge"),
            prompt,
            JudgeVerdict,
            check=lambda found: plan_problem(found, plans, known),
        )
    except NO_ANSWER as error:
        kept = Explored(at.item, "synthesis", (spine.id,), spine.plan, None, "fallback")
        lost += (missing(at, prompt, str(error)),)
        return replace(kept, flags=(SPINE_FALLBACK,), missing=lost, synthesis=Synthesis(spine.id))
    sources = {source for change in verdict.changes for source in change.sources}
    parents = (spine.id, *sorted(sources - {spine.id}))
    made = Explored(at.item, "synthesis", parents, verdict.plan(), None, "submitted")
    return replace(made, synthesis=verdict.synthesis(spine.id), missing=lost)


async def _reviews(
    x: Exploration, at: CallAddress, plans: Mapping[str, Plan], material: Mapping[str, str]
) -> tuple[tuple[Review, ...], tuple[str, ...]]:
    """Both reviews of all plans; costs two calls, side by side.

    A review that cannot be had is empty, and it is said why: the judge then has the plans and the
    code.
    """
    relations = await asyncio.to_thread(relations_text, x.code, plans)

    async def review(name: str, nothing: Review, **more: str) -> tuple[Review, tuple[str, ...]]:
        prompt = render(name, **material, **more)
        return await ask_or(x.services.model, replace(at, turn=name), prompt, nothing)

    work = (
        partial(review, "completeness", CompletenessVerdict(()), relations=relations),
        partial(review, "risk", RiskVerdict(())),
    )
    found = await side_by_side(2, work)
    return tuple(each for each, _ in found), tuple(said for _, lost in found for said in lost)


def _needed(reviews: tuple[Review, ...]) -> tuple[NeededPlace, ...]:
    """The places that the completeness review names."""
    lists = (each.locations for each in reviews if isinstance(each, CompletenessVerdict))
    return tuple(place for places in lists for place in places)


def plan_problem(
    verdict: JudgeVerdict, known: Collection[str], references: References
) -> str | None:
    """What is wrong with a unified plan, None when nothing is.

    It changes something, every change names candidates it was taken from, and every path and name
    exists or is marked (new).
    """
    if not verdict.changes:
        return "The plan has no change."
    for change in verdict.changes:
        if not change.sources or set(change.sources) - set(known):
            return f"The change in {change.path} must name its sources, out of {sorted(known)}."
    return references.problem(verdict.changes, verdict.context)
