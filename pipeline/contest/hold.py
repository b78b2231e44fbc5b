"""The contest: selectors that may run code choose where evidence and vote leave a tie.

Source: method.md §2.3.7 rule 7. A selector never learns who made a candidate, in which stage, or
how many votes it has.
"""

from collections.abc import Mapping
from functools import partial

from pipeline.agent.limits import limits_of
from pipeline.agent.loop import run_agent
from pipeline.agent.roles import AgentRole
from pipeline.agent.transcript import Transcript
from pipeline.contest.tally import is_decided, labelled
from pipeline.contest.tools import ABSTAIN, selector_tools, states
from pipeline.explore.state import Exploration
from pipeline.items import step
from pipeline.prompts.blocks import data_block, issue_block
from pipeline.prompts.render import render
from pipeline.services import CallAddress
from pipeline.values import Candidate, Contest, ContestVote, Evidence, Reproduced
from sandbox.errors import EngineUnavailable, SandboxError

MAX_PATCH = 20_000
MAX_TEST = 6_000
NO_MONEY = "The selector ended without an answer (budget)."

Pool = Mapping[str, Candidate]


async def hold_contest(
    x: Exploration,
    tied: Pool,
    evidence: Mapping[str, Evidence],
    reproductions: tuple[Reproduced, ...],
) -> Contest:
    """Up to `contest_votes` votes one after the other, until the lead cannot be caught.

    Journal items: `vote/contest:1` and so on; finished ones are read back. Costs one workspace
    and one agent run of up to `selector_turns` each.
    """
    config = x.services.config
    votes: tuple[ContestVote, ...] = ()
    while not is_decided(votes, config.contest_votes):
        work = partial(_vote, x, tied, evidence, reproductions, len(votes) + 1)
        name = f"contest:{len(votes) + 1}"
        vote = await step(x.services.journal, "vote", name, ContestVote, work)
        votes = (*votes, vote)
        if vote.reason == NO_MONEY:
            break
    return Contest(votes)


async def _vote(
    x: Exploration,
    tied: Pool,
    evidence: Mapping[str, Evidence],
    reproductions: tuple[Reproduced, ...],
    number: int,
    attempt: int,
) -> ContestVote:
    """One selector's vote; one that ends without a valid answer, or whose workspace is lost, is
    dropped with its reason."""
    services, labels = x.services, labelled(tied, x.services.run, number)
    at = CallAddress("vote", f"contest:{number}", "", attempt)
    patches = {label: tied[name].patch for label, name in labels.items()}
    message = render(
        "selector",
        issue=issue_block(x.task),
        repository=x.about,
        patches=_patches_text(patches),
        tests=_tests_text(labels, evidence, reproductions),
    ).message
    try:
        async with services.sandbox.workspace(x.environment, "verify", services.run) as own:
            tools = selector_tools(own, await states(own, patches), x.code)
            role = AgentRole("selector", "selector", lambda workspace, code: tools)
            run = await run_agent(
                services.model,
                role,
                Transcript(message),
                tools,
                at,
                limits_of(services.config, services.config.selector_turns),
                services.recorder,
            )
    except EngineUnavailable:
        raise
    except SandboxError as error:
        return ContestVote("", "low", f"The selector's workspace failed: {error}")
    if run.output is None:
        why = f"{run.exit_status}: {run.reason}" if run.reason else run.exit_status
        return ContestVote("", "low", f"The selector ended without an answer ({why}).")
    said = run.output
    chosen = "" if said["label"] == ABSTAIN else labels[said["label"]]
    return ContestVote(chosen, said["confidence"], said["reason"])


def _patches_text(patches: Mapping[str, str]) -> str:
    return "\n\n".join(
        data_block("candidate", f"label: {label}\n{_cut(patch, MAX_PATCH)}")
        for label, patch in patches.items()
    )


def _tests_text(
    labels: Mapping[str, str],
    evidence: Mapping[str, Evidence],
    reproductions: tuple[Reproduced, ...],
) -> str:
    """The reproductions of the bug and what each did on the candidates, without their authors."""
    parts = []
    for number, each in enumerate(reproductions, 1):
        seen = ", ".join(
            f"{label}: {evidence[name].reproductions.get(each.id, 'missing')}"
            for label, name in labels.items()
        )
        text = _cut(each.reproduction.text, MAX_TEST)
        parts.append(data_block("test", f"number: {number}\nresults: {seen}\n{text}"))
    return "\n\n".join(parts) or "(none)"


def _cut(text: str, limit: int) -> str:
    more = len(text) - limit
    return text if more <= 0 else f"{text[:limit]}\n(cut: {more} more characters)"
