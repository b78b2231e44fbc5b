"""Global exploration: solutions sampled one after the other, each unlike the earlier ones.

Source: Prism, global exploration (method.md §2.3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipeline.agent.transcript import Transcript
from pipeline.errors import BudgetExhausted
from pipeline.explore.asking import ask_or, missing
from pipeline.explore.contrast import facts, too_close
from pipeline.explore.plan import explored_plan, opening, run_planner
from pipeline.explore.state import Exploration, Explored
from pipeline.items import step
from pipeline.model.verdicts import ContrastVerdict, GuideVerdict
from pipeline.prompts.blocks import issue_block, plans_text
from pipeline.prompts.render import note, render
from pipeline.services import CallAddress
from pipeline.values import Plan

WEAK_DIVERGENCE = "weak_divergence"

Earlier = Mapping[str, Plan]


@dataclass(frozen=True, slots=True)
class _Objection:
    """Why a plan is not different enough; no findings when it is. The others are for the record."""

    findings: tuple[str, ...] = ()
    advice: str = ""
    facts: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


async def sample_contrast(x: Exploration, n: int) -> tuple[Explored, ...]:
    """G1 … Gn in sequence; run k is told all earlier solutions and must differ from each.

    An item that ends without a plan (budget, malformed answers) stays in the result with
    `plan` None. Costs n planner runs, plus a guide and a contrast call from the second one on and
    up to `regenerations` more planner runs for each that is too close.
    """
    found: tuple[Explored, ...] = ()
    for k in range(1, n + 1):
        name = f"G{k}"
        earlier = {each.id: each.plan for each in found if each.plan is not None}

        async def work(attempt: int, name: str = name, earlier: Earlier = earlier) -> Explored:
            return await explored_plan(name, "global", (), _sample(x, name, earlier, attempt))

        found = (*found, await step(x.services.journal, "global", name, Explored, work))
        await x.services.progress.update("global", k, n)
    return found


async def _sample(x: Exploration, name: str, earlier: Earlier, attempt: int) -> Explored:
    """One solution; regenerated while it is too close, kept with a flag when it stays so."""
    transcript, lost = opening(x, "planner"), tuple[str, ...]()
    if earlier:
        transcript, lost = await _guided(x, name, transcript, earlier, attempt)
    best: Explored | None = None
    for regeneration in range(1 + x.services.config.regenerations):
        prefix = f"r{regeneration}." if regeneration else ""
        at = CallAddress("global", name, prefix, attempt)
        made = await run_planner(x, at, transcript, "global")
        if made.plan is None or made.transcript is None:
            return best or replace(made, missing=lost)
        grown = made.transcript
        objection = await _objection(x, at, made.plan, earlier)
        lost += objection.missing
        made = replace(made, notes=objection.facts, missing=lost)
        if not objection.findings:
            return made
        best = replace(made, flags=(*made.flags, WEAK_DIVERGENCE))
        transcript = grown.append(
            note("planner_again", findings=" ".join(objection.findings), advice=objection.advice)
        )
    assert best is not None  # the loop runs at least once
    return best


async def _guided(
    x: Exploration, name: str, transcript: Transcript, earlier: Earlier, attempt: int
) -> tuple[Transcript, tuple[str, ...]]:
    """The conversation with the worldview that the next planner has to take; costs one call.

    Also why it is none of the model's, when it is not.
    """
    prompt = render("divergence_guide", issue=issue_block(x.task), earlier=plans_text(earlier))
    at = CallAddress("global", name, "guide", attempt)
    verdict, lost = await ask_or(x.services.model, at, prompt, _plain_guide(earlier))
    guided = transcript.append(
        note(
            "planner_guide",
            guide=verdict.guide,
            evidence=verdict.evidence_to_seek,
            difference=verdict.difference,
            avoid=", ".join(verdict.avoid_edit_points) or "none",
        )
    )
    return guided, lost


def _plain_guide(earlier: Earlier) -> GuideVerdict:
    """What the next planner is told when no view could be had: where the others have been."""
    causes = " ".join(f"{name} says: {plan.solution.root_cause}" for name, plan in earlier.items())
    points = {
        f"{change.path} {change.symbol}".strip(): None
        for plan in earlier.values()
        for change in plan.changes
    }
    return GuideVerdict(
        earlier=(),
        guide=f"Look for an explanation that none of the earlier plans gives. {causes}",
        evidence_to_seek="what the code does that the earlier explanations do not account for",
        difference="another cause, or another reading of what the code promises",
        avoid_edit_points=tuple(points),
    )


async def _objection(x: Exploration, at: CallAddress, plan: Plan, earlier: Earlier) -> _Objection:
    """Compare with all earlier solutions; costs one call from G2 on, none for G1.

    Without an answer that can be used, or money for one, the mechanical facts decide alone.
    """
    if not earlier:
        return _Objection()
    prompt = render("contrast", candidate=plans_text({at.item: plan}), earlier=plans_text(earlier))
    at = replace(at, turn=f"{at.turn}contrast")
    nothing = ContrastVerdict((), "the strategies of the earlier plans")
    try:
        verdict, lost = await ask_or(x.services.model, at, prompt, nothing)
    except BudgetExhausted as error:  # the plan itself is there, and paid for
        verdict, lost = nothing, (missing(at, prompt, str(error)),)
    findings = too_close(plan, earlier, verdict.compared, x.services.config.contrast)
    return _Objection(findings, verdict.advice, facts(plan, earlier, verdict.compared), lost)
