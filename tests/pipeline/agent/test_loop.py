"""The loop ends when it should, and no tool call stays without its result."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from emulator.model.scripted import call, say
from pipeline.agent.limits import AgentLimits
from pipeline.agent.loop import AgentRun, run_agent
from pipeline.agent.roles import CODER
from pipeline.agent.transcript import Transcript
from pipeline.caps import Caps
from pipeline.errors import ModelRejected
from pipeline.journal import JsonLinesJournal
from pipeline.services import Budget, CallAddress, ModelReply, ModelRequest
from pipeline.values import Usage
from tests.fakes import LocalWorkspace, MemoryBudget, scripted_model

LIMITS = AgentLimits(20)
SUBMIT = call("submit", summary="s", status="fixed")


async def play(
    turns: list[Any],
    folder: Path,
    budget: Budget | None = None,
    limits: AgentLimits = LIMITS,
) -> AgentRun:
    """A coder that says `turns`."""
    script = {f"code/G1/{n}": turn for n, turn in enumerate(turns)}
    workspace = LocalWorkspace(folder / "w", {"a.py": "x = 1\n"})
    async with scripted_model(script, budget) as model:
        return await run_agent(
            model,
            CODER,
            Transcript("Repair."),
            CODER.tools(workspace, None),
            CallAddress("code", "G1", ""),
            limits,
        )


async def test_parallel_calls_are_one_step(tmp_path: Path) -> None:
    """Two calls of a turn are answered in one message, in their order."""
    both = [call("view", path="a.py"), call("shell", command="echo hi")]
    run = await play([both, [SUBMIT], [SUBMIT]], tmp_path)
    results = [block["content"] for block in run.transcript.turns[0].user]
    assert results == ["     1\tx = 1", "(exit code 0)\nhi"]
    assert (run.exit_status, run.turns) == ("submitted", 3)


async def test_calls_after_the_final_submit_are_not_carried_out(tmp_path: Path) -> None:
    """Work after handing in would not be in the patch that was checked."""
    late = call("shell", command="touch late")
    run = await play([[SUBMIT], [SUBMIT, late]], tmp_path)
    assert run.exit_status == "submitted"
    assert run.transcript.turns[-1].user[1]["is_error"]
    assert not (tmp_path / "w" / "late").exists()


@pytest.mark.parametrize(
    "bad",
    [
        [say("Just words.")],
        [],
        [call("fly", to="the moon")],
        [call("view")],
        {"content": [call("shell", command="touch cut")], "stop_reason": "max_tokens"},
    ],
)
async def test_three_malformed_turns_end_the_run(bad: Any, tmp_path: Path) -> None:
    """No tool, an unknown tool, missing arguments, cut off: told twice, ended at the third."""
    run = await play([bad, bad, bad, [SUBMIT]], tmp_path)
    assert (run.exit_status, run.turns, run.output) == ("malformed", 3, None)
    assert run.reason.startswith(("3 answers in a row called no tool", "the same"))
    assert not (tmp_path / "w" / "cut").exists()


async def test_a_malformed_turn_can_be_mended(tmp_path: Path) -> None:
    """After a good turn the count starts again."""
    bad, good = [say("Hm.")], [call("view", path="a.py")]
    run = await play([bad, bad, good, bad, bad, [SUBMIT], [SUBMIT]], tmp_path)
    assert run.exit_status == "submitted"


VIEW, LIST = [call("view", path="a.py")], [call("list")]


@pytest.mark.parametrize(
    ("turns", "ended_at", "why"),
    [
        ([VIEW] * 9, 5, "the same call had the same result 4 times in a row"),
        ([[call("view", path="no.py", start=n + 1)] for n in range(9)], 4, "the same error came"),
        ([VIEW, LIST] * 5, 7, "the same two steps took turns"),
    ],
)
async def test_going_in_circles_ends_the_run_after_one_warning(
    turns: list[Any], ended_at: int, why: str, tmp_path: Path
) -> None:
    """The agent is told what is seen; one more step of the same kind is its last."""
    run = await play(turns, tmp_path)
    assert (run.exit_status, run.turns, run.output) == ("stuck", ended_at, None)
    assert run.reason.startswith(why)
    told = run.transcript.turns[ended_at - 2].user[-1]["text"]
    assert told.startswith(f"You go round in circles: {why}")


async def test_a_warning_that_helps_costs_nothing(tmp_path: Path) -> None:
    """The agent leaves the circle and hands in as if nothing had been."""
    run = await play([*[VIEW] * 4, LIST, [SUBMIT], [SUBMIT]], tmp_path)
    assert (run.exit_status, run.reason) == ("submitted", "")


async def test_what_a_fork_was_left_with_is_no_circle_of_its_own(tmp_path: Path) -> None:
    """The kept turns are another agent's: three views of it and one here are not four."""
    shown = (await play([VIEW, VIEW, VIEW, [SUBMIT], [SUBMIT]], tmp_path)).transcript.fork(3)
    workspace = LocalWorkspace(tmp_path / "other", {"a.py": "x = 1\n"})
    script = {f"local/L1.1/{n}": turn for n, turn in enumerate([VIEW, VIEW, [SUBMIT], [SUBMIT]])}
    async with scripted_model(script) as model:
        at = CallAddress("local", "L1.1", "")
        run = await run_agent(model, CODER, shown, CODER.tools(workspace, None), at, AgentLimits(9))
    assert "circles" not in json.dumps(run.transcript.messages())


async def test_turns_run_out_after_a_warning(tmp_path: Path) -> None:
    """Five turns before the end the agent is told to finish."""
    turns = [[call("shell", command=f"echo {n}")] for n in range(9)]
    run = await play(turns, tmp_path, limits=AgentLimits(7))
    assert (run.exit_status, run.turns) == ("turns", 7)
    assert run.transcript.turns[1].user[-1]["text"].startswith("Only 5 turns are left")


async def test_the_budget_ends_the_run_as_an_outcome(tmp_path: Path) -> None:
    """Work done so far is kept; nothing is raised."""
    turns = [[call("edit", path=f"b{n}.py", new="y = 2\n", create=True)] for n in range(9)]
    budget = MemoryBudget(limit_usd=0.14)
    run = await play(turns, tmp_path, budget)
    assert (run.exit_status, run.output) == ("budget", None)
    assert 1 <= run.turns < 9
    assert (tmp_path / "w" / "b0.py").exists()
    assert (await budget.spent()).cost_usd < 0.14


class Slow:
    """A model that edits one file at once and never answers again."""

    def __init__(self, answers: int) -> None:
        self.left = answers

    async def complete(self, request: ModelRequest) -> ModelReply:
        if not self.left:
            await asyncio.Event().wait()
        self.left -= 1
        made = {**call("edit", path="b.py", new="y = 2\n", create=True), "id": "t"}
        return ModelReply((made,), "tool_use", Usage(), "model")


@pytest.mark.parametrize("answers", [0, 1])
async def test_time_is_over_while_the_model_is_waited_for(answers: int, tmp_path: Path) -> None:
    """An outcome with what was done so far; the wait is not sat out."""
    workspace = LocalWorkspace(tmp_path / "w", {"a.py": "x = 1\n"})
    tools, at = CODER.tools(workspace, None), CallAddress("code", "G1", "")
    limits = AgentLimits(9, seconds=2.0)
    run = await run_agent(Slow(answers), CODER, Transcript("Repair."), tools, at, limits)
    assert (run.exit_status, run.output, run.turns) == ("time", None, answers)
    assert run.reason == "its 0.0333 minutes are over"
    assert (tmp_path / "w" / "b.py").exists() is bool(answers)


async def test_a_tool_at_work_is_not_interrupted(tmp_path: Path) -> None:
    """What it did is told and kept; the end comes at the next turn, after a word about it."""
    sleeps = [call("shell", command="sleep 3; echo done")]
    run = await play([sleeps, [SUBMIT]], tmp_path, limits=AgentLimits(9, seconds=3.0))
    assert (run.exit_status, run.turns) == ("time", 1)
    assert run.transcript.turns[0].user[0]["content"] == "(exit code 0)\ndone"
    assert run.transcript.turns[0].user[1]["text"].startswith("Little time is left: finish")


async def test_an_items_share_ends_it_as_an_outcome(tmp_path: Path) -> None:
    """Another status than the run's budget: the other items go on."""
    turns = [[call("edit", path=f"b{n}.py", new="y = 2\n", create=True)] for n in range(9)]
    budget = JsonLinesJournal(tmp_path / "run.jsonl", 1.4, caps=Caps(item_share=0.01))
    run = await play(turns, tmp_path, budget)
    assert (run.exit_status, run.output) == ("share", None)
    assert run.reason.startswith("Its share of the budget, $0.01, is used up")
    assert (tmp_path / "w" / "b0.py").exists()


async def test_a_refusal_ends_the_run_as_an_outcome(tmp_path: Path) -> None:
    """A model that declines drops this agent, not the others."""
    run = await play([{"content": [say("No.")], "stop_reason": "refusal"}], tmp_path)
    assert (run.exit_status, run.turns) == ("refused", 0)


@pytest.mark.parametrize("half", ["\ud800", "a\udfffb"])
async def test_an_answer_that_cannot_be_read_ends_the_run_as_an_outcome(
    half: str, tmp_path: Path
) -> None:
    """Half a character in a tool's input drops this agent after one paid call, not the others."""
    budget = MemoryBudget()
    run = await play([[call("shell", command=half)], [SUBMIT]], tmp_path, budget)
    assert (run.exit_status, run.turns, run.output) == ("malformed", 0, None)
    assert len(budget.settled) == 1
    assert budget.settled[0][0].cost_usd == budget.reserved[0][1]


async def test_an_unknown_address_is_raised(tmp_path: Path) -> None:
    """A rejected request is an error of the run, with the API's sentence."""
    with pytest.raises(ModelRejected, match="no answer for the call 'code/G1/0'"):
        await play([], tmp_path)


async def test_a_prefix_stands_before_the_turn(tmp_path: Path) -> None:
    """A regeneration has addresses of its own."""
    workspace = LocalWorkspace(tmp_path / "w", {"a.py": ""})
    script = {"global/G2/r1.0": [SUBMIT], "global/G2/r1.1": [SUBMIT]}
    async with scripted_model(script) as model:
        at = CallAddress("global", "G2", "r1.")
        tools = CODER.tools(workspace, None)
        run = await run_agent(model, CODER, Transcript("x"), tools, at, AgentLimits(5))
    assert run.exit_status == "submitted"
