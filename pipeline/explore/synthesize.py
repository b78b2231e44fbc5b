"""Synthesis: two reviews and a judge turn one spine and its rivals into one plan.

Source: Prism, solution synthesis (method.md §2.3.4), across all branches.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from pipeline.agent.excerpts import excerpts, places_of
from pipeline.errors import MalformedAnswer
from pipeline.explore.plan import explored_plan
from pipeline.explore.reviews import Review, reviews_text
from pipeline.explore.state import Exploration, Explored
from pipeline.items import side_by_side, step
from pipeline.model.ask import ask
from pipeline.model.verdicts import CompletenessVerdict, JudgeVerdict, RiskVerdict
from pipeline.prompts.blocks import issue_block, plans_text
from pipeline.prompts.render import render
from pipeline.services import CallAddress
from pipeline.values import Change, Plan

SPINE_FALLBACK = "spine_fallback"


async def synthesize(
    x: Exploration, number: int, spine: Explored, pool: tuple[Explored, ...]
) -> Explored:
    """S<number>: the spine's plan completed by what the others saw, every change with its source.

    Costs three calls: completeness, regression risk, judge. When the judge's plan stays invalid
    the spine's own plan is kept, with a flag.
    """
    name = f"S{number}"
    plans = {each.id: each.plan for each in pool if each.plan is not None}

    async def work(attempt: int) -> Explored:
        at = CallAddress("synthesis", name, "", attempt)
        return await explored_plan(name, "synthesis", (spine.id,), _judged(x, at, spine, plans))

    return await step(x.services.journal, "synthesis", name, Explored, work)


async def _judged(
    x: Exploration, at: CallAddress, spine: Explored, plans: Mapping[str, Plan]
) -> Explored:
    assert spine.plan is not None
    material = {
        "issue": issue_block(x.task),
        "plans": plans_text(plans),
        "code": await excerpts(x.workspace, places_of(plans.values())),
    }
    reviews = await _reviews(x, at, material)
    prompt = render("judge", spine=spine.id, reviews=reviews, **material)
    files = frozenset(await x.services.source.files())
    try:
        verdict = await ask(
            x.services.model,
            replace(at, turn="judge"),
            prompt,
            JudgeVerdict,
            check=lambda found: plan_problem(found.changes, plans, files),
        )
    except MalformedAnswer:
        kept = Explored(at.item, "synthesis", (spine.id,), spine.plan, None, "fallback")
        return replace(kept, flags=(SPINE_FALLBACK,))
    sources = {source for change in verdict.changes for source in change.sources}
    parents = (spine.id, *sorted(sources - {spine.id}))
    return Explored(at.item, "synthesis", parents, verdict.plan(), None, "submitted")


async def _reviews(x: Exploration, at: CallAddress, material: Mapping[str, str]) -> str:
    """Both reviews of all plans as text for the judge; costs two calls, side by side."""

    async def review(name: str, kind: type[Review]) -> Review:
        return await ask(x.services.model, replace(at, turn=name), render(name, **material), kind)

    work = (
        partial(review, "completeness", CompletenessVerdict),
        partial(review, "risk", RiskVerdict),
    )
    return reviews_text(await side_by_side(2, work))


def plan_problem(
    changes: Collection[Change], known: Collection[str], files: Collection[str]
) -> str | None:
    """What is wrong with a unified plan, None when nothing is.

    Every change names candidates it was taken from, and a path that exists or is marked (new).
    """
    if not changes:
        return "The plan has no change."
    for change in changes:
        if not change.sources or set(change.sources) - set(known):
            return f"The change in {change.path} must name its sources, out of {sorted(known)}."
        if change.path not in files and "(new)" not in change.what:
            return f"{change.path} does not exist; name an existing path, or write (new) in `what`."
    return None
