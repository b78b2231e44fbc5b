"""How many plans get a coder: the order in which that happens, and when it is enough. Pure.

Source: the presets of method.md §2.3.5. Planning is always the paper's; coders are what costs.
"""

from collections.abc import Sequence

from pipeline.choose.settle import settled
from pipeline.decide import Assessed
from pipeline.explore.state import Explored
from pipeline.services import RunConfig
from pipeline.values import Candidate

Wave = tuple[Explored, ...]


def waves(config: RunConfig, explored: Sequence[Explored]) -> tuple[Wave, ...]:
    """Plans in the groups in which they are coded; what stands in none is never coded.

    "full": all at once. Otherwise the integrated plans first, then those that bring independent
    explanations soonest: each global one, then the first local branch of each, and so on. Where
    no integrated plan was made, the global ones take their place.
    """
    planned = [each for each in explored if each.plan is not None]
    if config.effort == "full" and not config.stop_early:
        return (tuple(planned),) if planned else ()
    integrated, branches = _of("synthesis", planned), _of("local", planned)
    parted = [group for group in (integrated, _of("global", planned)) if group]
    if config.effort == "lean":
        return tuple(parted[:1])
    numbers = sorted({_branch(each) for each in branches})
    rounds = (tuple(each for each in branches if _branch(each) == n) for n in numbers)
    return (*parted, *rounds)


def enough(config: RunConfig, seen: Assessed, remaining: int) -> str:
    """Why the `remaining` plans need no coder, "" when they do.

    Integrated plans share what they were made from, so all of them have to agree; later on
    `settled` of the choosing part decides.
    """
    pool = seen.pool
    if any(each.exit_status == "budget" for each in pool.candidates):
        return "the budget is used up"
    if config.effort == "adaptive" and all(each.stage == "synthesis" for each in pool.candidates):
        return _integrated_agree(seen)
    return settled(seen.ballot, pool.evidence, has_suite=pool.has_suite, remaining=remaining)


def _integrated_agree(seen: Assessed) -> str:
    """Why the integrated candidates alone settle a run, "" when they do not.

    They do when at least two pass the gate, all that pass stand in one cluster, and no evidence
    for the winner is missing: the suite ran, and it passes a reproduction that counts.
    """
    ballot, winner, trust = seen.ballot, seen.ballot.winner, seen.ballot.confidence
    gated = {each.candidate for each in ballot.gates if each.ok}
    if winner is None or trust is None or len(gated) < 2 or gated != set(ballot.clusters[0].gated):
        return ""
    if not (seen.pool.evidence[winner].regression_ran and trust.tested):
        return ""
    return (
        f"{len(gated)} integrated candidates agree and pass every check, and no evidence is missing"
    )


def left_out(plans: Sequence[Explored], reason: str) -> tuple[str, ...]:
    """One sentence about the plans that got no coder; none when there is no such plan.

    Without a `reason` it is the effort itself, which codes the integrated plans only.
    """
    names = [each.id for each in plans if each.plan is not None]
    if not names:
        return ()
    what = f"the plan {names[0]}" if len(names) == 1 else f"the plans {', '.join(names)}"
    why = reason or "the effort `lean` codes the integrated plans only"
    return (f"No coder carried out {what}: {why}.",)


def lost_notes(
    explored: tuple[Explored, ...], candidates: tuple[Candidate, ...]
) -> tuple[str, ...]:
    """One sentence for each sample without a plan, verdict without an answer, coder without an end.

    Samples first: what was lost weighs most where a list is cut.
    """
    plans = [
        f"{each.id} ended without a plan ({_why(each)})."
        + (f" What it handed in was refused: {each.objection}" if each.objection else "")
        for each in explored
        if each.plan is None
    ]
    verdicts = [said for each in explored for said in each.missing]
    coders = [
        f"The coder of {each.id} was ended early ({_why(each)}); its work so far is kept."
        if each.patch
        else f"No candidate from the coder of {each.id} ({_why(each)})."
        for each in candidates
        if each.exit_status != "submitted"
    ]
    return (*plans, *coders, *verdicts)


def _why(ended: Explored | Candidate) -> str:
    return f"{ended.exit_status}: {ended.ended_by}" if ended.ended_by else ended.exit_status


def _of(stage: str, planned: Sequence[Explored]) -> Wave:
    return tuple(each for each in planned if each.stage == stage)


def _branch(local: Explored) -> int:
    """Which branch of its parent it is: 2 for L1.2."""
    return int(local.id.rpartition(".")[2])
