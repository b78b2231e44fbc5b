"""Synthesis: two reviews and a judge turn one spine and its rivals into one plan.

Source: Prism, solution synthesis (method.md §2.3.4).
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from pipeline.values import Location, Plan, Synthesis

SPINE_FALLBACK = "spine_fallback"


@dataclass(frozen=True, slots=True)
class Material:
    """What reviewers and judge are given: plans by id and, as blocks of data, what they are about.

    `relations` is for the reviewer who looks for forgotten places.
    """

    plans: Mapping[str, Plan]
    places: tuple[Location, ...]
    code: str
    relations: str


async def materials(
    x: Exploration, spines: Sequence[Explored], pool: tuple[Explored, ...]
) -> tuple[Material, ...]:
    """The material of each spine's synthesis; the same plans are looked up once."""
    made: dict[tuple[str, ...], Material] = {}
    names = []
    for spine in spines:
        plans = in_scope(x.services.config.synthesis_scope, spine, pool)
        names.append(tuple(plans))
        if names[-1] not in made:
            made[names[-1]] = await _material(x, plans)
    return tuple(made[each] for each in names)


async def _material(x: Exploration, plans: Mapping[str, Plan]) -> Material:
    places = places_of(plans.values())
    code = await excerpts(x.workspace, places)
    return Material(plans, places, code, await asyncio.to_thread(relations_text, x.code, plans))


async def synthesize(x: Exploration, number: int, spine: Explored, material: Material) -> Explored:
    """S<number>: the spine's plan completed by what the others saw, every change with its source.

    Costs three calls: completeness, regression risk, judge. When the judge's plan stays invalid
    the spine's own plan is kept, with a flag.
    """
    name = f"S{number}"

    async def work(attempt: int) -> Explored:
        at = CallAddress("synthesis", name, "", attempt)
        return await explored_plan(name, "synthesis", (spine.id,), _judged(x, at, spine, material))

    return await step(x.services.journal, "synthesis", name, Explored, work)


def in_scope(scope: SynthesisScope, spine: Explored, pool: tuple[Explored, ...]) -> dict[str, Plan]:
    """The plans a synthesis sees: all of them, or the spine and the variants of it."""
    return {
        each.id: each.plan
        for each in pool
        if each.plan is not None and (scope == "cross" or spine.id in (each.id, *each.parents))
    }


async def _judged(x: Exploration, at: CallAddress, spine: Explored, material: Material) -> Explored:
    assert spine.plan is not None
    plans = material.plans
    shown = {"issue": issue_block(x.task), "plans": plans_text(plans), "code": material.code}
    reviews, lost = await _reviews(x, at, material.relations, shown)
    prompt = render("judge", spine=spine.id, reviews=reviews_text(reviews), **shown)
    paths = [*(each.path for each in material.places), *(each.path for each in _needed(reviews))]
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
    x: Exploration, at: CallAddress, relations: str, shown: Mapping[str, str]
) -> tuple[tuple[Review, ...], tuple[str, ...]]:
    """Both reviews of all plans; costs two calls, side by side.

    A review that cannot be had is empty, and it is said why: the judge then has the plans and the
    code.
    """

    async def review(name: str, nothing: Review, **more: str) -> tuple[Review, tuple[str, ...]]:
        prompt = render(name, **shown, **more)
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
