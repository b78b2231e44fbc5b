"""Patch generation: one coder, one workspace, one candidate.

Source: Prism, patch generation (method.md §2.3.5).
"""

from collections.abc import Iterable
from dataclasses import replace

from pipeline.agent.checkpoints import START, keep, last_note
from pipeline.agent.excerpts import excerpts, places_of
from pipeline.agent.finishing import submission_from
from pipeline.agent.limits import limits_of
from pipeline.agent.loop import AgentRun, run_agent
from pipeline.agent.roles import CODER
from pipeline.explore.plan import opening
from pipeline.explore.state import Exploration, Explored
from pipeline.items import step
from pipeline.prompts.blocks import plans_text
from pipeline.prompts.render import note
from pipeline.services import CallAddress
from pipeline.values import Candidate, Reproduction
from sandbox.base import Workspace
from sandbox.errors import EngineUnavailable, FileNotFound, NotAllowed, SandboxError
from sandbox.patch.patch import PatchError, parse, without_paths

MAX_REPRODUCTIONS = 3
MAX_SHOWN = 24_000  # characters


async def show_code(x: Exploration, explored: Iterable[Explored]) -> Exploration:
    """The exploration with the code that any plan is about, as every coder is shown it.

    All coders begin with the same bytes, so it is paid for once and not by each of them.
    """
    plans = [each.plan for each in explored if each.plan is not None]
    return replace(x, shown=await excerpts(x.workspace, places_of(plans), MAX_SHOWN))


async def write_patch(x: Exploration, explored: Explored) -> Candidate:
    """Carry out one plan in a workspace of its own; whatever it leaves becomes the candidate.

    Costs one container and one agent run of up to `coder_turns`. A coder that runs out of turns
    or budget still counts with its last diff; one whose workspace fails it counts with an empty
    patch and exit status "error". Raises EngineUnavailable when no workspace can work.
    """
    name = f"code:{explored.id}"

    async def work(attempt: int) -> Candidate:
        services = x.services
        try:
            async with services.sandbox.workspace(x.environment, "candidate", services.run) as own:
                run = await _code(x, explored, own, attempt)
                return await _collect(explored, run, own)
        except EngineUnavailable:
            raise
        except SandboxError as error:  # the other coders' work must not be lost with it
            return _candidate(explored, "error", f"its workspace failed: {str(error).rstrip('.')}")

    return await step(x.services.journal, "code", name, Candidate, work)


async def _code(x: Exploration, explored: Explored, own: Workspace, attempt: int) -> AgentRun:
    assert explored.plan is not None
    await keep(own, START, "the untouched repository")
    order = note("coder_plan", plan=plans_text({explored.id: explored.plan}))
    return await run_agent(
        x.services.model,
        CODER,
        opening(x, "coder").append(order),
        CODER.tools(own, x.code),
        CallAddress("code", explored.id, "", attempt),
        limits_of(x.services.config, x.services.config.coder_turns),
        x.services.recorder,
    )


async def _collect(explored: Explored, run: AgentRun, own: Workspace) -> Candidate:
    """Split what is in the workspace into the source patch and the reproductions named."""
    patch = await own.diff()
    submission = submission_from(run.output) if run.output is not None else None
    named = submission.tests if submission is not None else ()
    try:
        added = {each.path for each in parse(patch) if each.old_path is None}
    except PatchError:
        # policy will say what is wrong
        return _candidate(explored, run.exit_status, run.reason, patch)
    reproductions: list[Reproduction] = []
    for path in dict.fromkeys(named):
        if path not in added or len(reproductions) == MAX_REPRODUCTIONS:
            continue  # an existing test that was changed stays in the patch, where policy sees it
        try:
            reproductions.append(Reproduction(path, await own.read(path), explored.id))
        except (FileNotFound, NotAllowed):
            continue  # one that is no text stays in the patch as well
    source = without_paths(patch, [each.path for each in reproductions])
    # One that was ended before it could sum up has said at its checkpoints how far it got.
    summary = submission.summary if submission is not None else last_note(own)
    return _candidate(explored, run.exit_status, run.reason, source, tuple(reproductions), summary)


def _candidate(
    explored: Explored,
    exit_status: str,
    ended_by: str,
    patch: str = "",
    reproductions: tuple[Reproduction, ...] = (),
    summary: str = "",
) -> Candidate:
    assert explored.plan is not None
    return Candidate(
        id=explored.id,
        stage=explored.stage,
        parents=explored.parents,
        plan=explored.plan,
        patch=patch,
        reproductions=reproductions,
        exit_status=exit_status,
        summary=summary,
        flags=explored.flags,
        synthesis=explored.synthesis,
        ended_by=ended_by,
    )
