"""Local exploration: leave a trajectory where it knows much and has decided little.

Source: Prism, local exploration, s* = argmin f (method.md §2.3.3).
"""

from collections.abc import Mapping
from dataclasses import replace

from pipeline.agent.transcript import Transcript
from pipeline.explore.asking import ask_or
from pipeline.explore.branch import WEIGHTS, branch_point, share_valid
from pipeline.explore.plan import explored_plan, opening, run_planner
from pipeline.explore.state import Exploration, Explored
from pipeline.items import step
from pipeline.model.verdicts import LocalGuideVerdict, RankVerdict
from pipeline.prompts.blocks import issue_block, tactics_text
from pipeline.prompts.render import note, render
from pipeline.services import CallAddress
from pipeline.values import Plan, Solution


async def vary(x: Exploration, parent: Explored, n: int) -> tuple[Explored, ...]:
    """n local branches of a global solution, in sequence: each sees the plans before it.

    R, E and C of the parent stay, M changes. Costs, for each branch, a rank and a guide call and
    the planner turns after the branching point; the kept prefix is served from cache. Nothing
    for a parent without a plan.
    """
    if parent.plan is None:
        return ()
    family: tuple[Explored, ...] = (parent,)
    for j in range(1, n + 1):
        name = f"L{parent.id.removeprefix('G')}.{j}"

        async def work(
            attempt: int, name: str = name, family: tuple[Explored, ...] = family
        ) -> Explored:
            branch = _branch(x, family, name, attempt)
            return await explored_plan(name, "local", (parent.id,), branch)

        family = (*family, await step(x.services.journal, "local", name, Explored, work))
    return family[1:]


async def _branch(
    x: Exploration, family: tuple[Explored, ...], name: str, attempt: int
) -> Explored:
    """One branch; `family` is the parent and the branches it has so far."""
    parent = family[0]
    plans = {each.id: each.plan for each in family if each.plan is not None}
    s_star, unranked = await _branch_step(x, family, name, attempt)
    start = _kept(x, parent, s_star)
    at = CallAddress("local", name, "guide", attempt)
    start, unguided = await _guided(x, start, parent.id, plans, at)
    made = await run_planner(x, CallAddress("local", name, "", attempt), start, "local")
    return replace(made, parents=(parent.id,), branch_step=s_star, missing=unranked + unguided)


async def _branch_step(
    x: Exploration, family: tuple[Explored, ...], name: str, attempt: int
) -> tuple[int | None, tuple[str, ...]]:
    """s*, ranked by one call; None when the trajectory is too short to leave.

    Also why the ranking is none of the model's, when it is not.
    """
    transcript = family[0].transcript
    last = len(transcript.turns) - 1 if transcript is not None else 0
    if transcript is None or branch_point((), last) is None:
        return None, ()
    used = {each.branch_step for each in family if each.branch_step is not None}
    prompt = render(
        "rank",
        issue=issue_block(x.task),
        last=str(last),
        trajectory=transcript.render(),
        used=", ".join(map(str, sorted(used))) or "none",
    )
    verdict, lost = await ask_or(
        x.services.model,
        CallAddress("local", name, "rank", attempt),
        prompt,
        RankVerdict(tuple(range(last + 1))),
        lambda found: _rank_problem(found, last),
    )
    weights = WEIGHTS[x.services.config.branch_weights]
    return branch_point(verdict.order, last, used, *weights), lost


def _rank_problem(verdict: RankVerdict, last: int) -> str | None:
    if share_valid(verdict.order, last) >= 0.5:
        return None  # the rest is repaired, see repair_order
    return f"Name every step index from 0 to {last} exactly once."


def _kept(x: Exploration, parent: Explored, s_star: int | None) -> Transcript:
    """The kept prefix s_0 … s_{s*−1}; a fresh conversation when there is nothing to keep."""
    if s_star is None or parent.transcript is None:
        return opening(x, "planner")
    return parent.transcript.fork(s_star)


async def _guided(
    x: Exploration,
    transcript: Transcript,
    parent: str,
    plans: Mapping[str, Plan],
    at: CallAddress,
) -> tuple[Transcript, tuple[str, ...]]:
    """The conversation with another tactic under the same root cause; costs one call.

    Also why the tactic is none of the model's, when it is not.
    """
    kept, earlier = kept_text(plans[parent].solution), tactics_text(plans)
    others = {name: plan for name, plan in plans.items() if name != parent}
    prompt = render(
        "local_guide",
        issue=issue_block(x.task),
        kept=kept,
        parent=tactics_text({parent: plans[parent]}),
        others=tactics_text(others) or "(none)",
    )
    verdict, lost = await ask_or(x.services.model, at, prompt, _plain_guide(plans))
    told = note("planner_branch", kept=kept, earlier=earlier, guide=verdict.guide)
    return transcript.append(told), lost


def _plain_guide(plans: Mapping[str, Plan]) -> LocalGuideVerdict:
    """What the planner is told when no tactic could be had: which ones are taken."""
    taken = " ".join(f"{name} does this: {plan.solution.strategy}" for name, plan in plans.items())
    guide = f"Enforce the expected behaviour at another point or in another way. {taken}"
    return LocalGuideVerdict((), (), guide)


def kept_text(solution: Solution) -> str:
    """R, E and C as text: what a local branch must not change."""
    places = "\n".join(f"- {each.path} {each.symbol}: {each.why}" for each in solution.context)
    return (
        f"Root cause: {solution.root_cause}\n"
        f"Expected behaviour: {solution.expected_behaviour}\n"
        f"Context:\n{places}"
    )
