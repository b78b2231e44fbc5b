"""One planner run, and what becomes of it."""

from collections.abc import Awaitable
from dataclasses import replace
from typing import Literal

from pipeline.agent.finishing import plan_from
from pipeline.agent.limits import limits_of
from pipeline.agent.loop import run_agent
from pipeline.agent.roles import PLANNER
from pipeline.agent.transcript import Transcript, cut
from pipeline.errors import (
    BudgetExhausted,
    ItemShareUsed,
    MalformedAnswer,
    ModelRefused,
    PromptTooLong,
)
from pipeline.explore.state import Exploration, Explored
from pipeline.model.wire import tool_calls
from pipeline.prompts.blocks import issue_block
from pipeline.prompts.render import render
from pipeline.services import CallAddress
from pipeline.values import Stage


def opening(x: Exploration, role: Literal["planner", "coder"]) -> Transcript:
    """The first message of every agent of a role: the same bytes throughout a run."""
    values = {"issue": issue_block(x.task), "repository": x.about}
    more = {"planner": {"places": x.places}, "coder": {"code": x.shown}}
    values |= more[role]
    return Transcript(render(role, **values).message)


async def run_planner(
    x: Exploration, at: CallAddress, transcript: Transcript, stage: Stage
) -> Explored:
    """Explore until the planner submits a plan; costs one agent run of up to `planner_turns`."""
    tools = PLANNER.tools(x.workspace, x.code)
    run = await run_agent(
        x.services.model,
        replace(PLANNER, is_left_later=_waits(x, at, stage)),
        transcript,
        tools,
        at,
        limits_of(x.services.config, x.services.config.planner_turns),
        x.services.recorder,
    )
    plan = None if run.output is None else plan_from(run.output)
    objection = _objection(run.transcript) if plan is None else ""
    return Explored(
        at.item,
        stage,
        (),
        plan,
        run.transcript,
        run.exit_status,
        objection=objection,
        ended_by=run.reason,
    )


def _waits(x: Exploration, at: CallAddress, stage: Stage) -> bool:
    """Whether branches leave this conversation only after other planners are done.

    The last global one is left at once. Its second branch waits for the first, which keeps warm
    what both have in common: to write the rest again is cheaper than an hour for all of it.
    """
    config = x.services.config
    return stage == "global" and at.item != f"G{config.n_global}" and config.n_local > 0


def _objection(transcript: Transcript) -> str:
    """Why the last plan that was handed in is none, "" when none ever was."""
    said = ""
    for turn in transcript.turns:
        results = {block.get("tool_use_id"): block for block in turn.user}
        for call in tool_calls(turn.assistant):
            result = results[call["id"]]
            if call["name"] == "submit_plan" and result.get("is_error"):
                said = str(result["content"])
    return cut(said)


async def explored_plan(
    name: str, stage: Stage, parents: tuple[str, ...], work: Awaitable[Explored]
) -> Explored:
    """What `work` explored, or an empty result that says why: one sample lost is no error."""
    try:
        return await work
    except ItemShareUsed as error:
        status, why = "share", str(error)
    except BudgetExhausted as error:
        status, why = "budget", str(error)
    except ModelRefused:
        status, why = "refused", ""
    except MalformedAnswer as error:
        status, why = "malformed", str(error)
    except PromptTooLong as error:
        status, why = "context", str(error)
    return Explored(name, stage, parents, None, None, status, ended_by=why.rstrip("."))
