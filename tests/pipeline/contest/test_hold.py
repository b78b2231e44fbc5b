"""Selectors at work: real git, real runs of tests, a scripted model."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emulator.model.scripted import call, say
from pipeline.contest.hold import hold_contest
from pipeline.contest.tally import labelled
from pipeline.contest.tools import selector_tools, states
from pipeline.explore.state import Exploration
from pipeline.journal import JsonLinesJournal
from pipeline.services import RunConfig, Services
from pipeline.values import Candidate, Contest, Plan, Solution, Task
from sandbox.errors import WorkspaceLost
from tests.fakes import LocalWorkspace, scripted_model

BASE = "def half(x):\n    return x\n"
PLAN = Plan("s", Solution("r", "e", "m", ()), ())
TEST = "from calc import half\nassert half(3) == 1.5, half(3)\n"


def candidate(name: str, line: str) -> Candidate:
    """A candidate that returns `line`."""
    patch = (
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n"
        f"@@ -1,2 +1,2 @@\n def half(x):\n-    return x\n+    return {line}\n"
    )
    return Candidate(name, "global", (), PLAN, patch)


TIED = {"G1": candidate("G1", "x // 2"), "G2": candidate("G2", "x / 2")}


@dataclass
class Folders:
    """A sandbox that hands out plain folders; `broken` makes every one of them fail."""

    root: Path
    broken: bool = False
    opened: list[LocalWorkspace] = field(default_factory=list)

    @asynccontextmanager
    async def workspace(self, *_: object) -> AsyncIterator[LocalWorkspace]:
        """A fresh copy of the repository."""
        if self.broken:
            raise WorkspaceLost("The container is gone.")
        self.opened.append(LocalWorkspace(self.root / str(len(self.opened)), {"calc.py": BASE}))
        yield self.opened[-1]


async def hold(
    tmp_path: Path, script: dict[str, Any], *, journal: str = "run.jsonl", broken: bool = False
) -> Contest:
    """A contest between G1 and G2 whose selectors answer by the script."""
    ledger, folders = JsonLinesJournal(tmp_path / journal, 10.0), Folders(tmp_path, broken)
    async with scripted_model(script) as model:
        services = Services("run", model, folders, None, ledger, ledger, None, RunConfig())  # type: ignore[arg-type] # what a contest does not use is None
        task = Task("calc", 1, "half", "half(3) should be 1.5", "0" * 40)
        x = Exploration(task, services, None, None, "Python")  # type: ignore[arg-type] # as above
        return await hold_contest(x, TIED, {}, ())


def choosing(number: int, name: str) -> dict[str, Any]:
    """A selector that tries one test and then chooses a candidate, or says anything else."""
    labels = {found: label for label, found in labelled(TIED, "run", number).items()}
    at = f"vote/contest:{number}"
    return {
        f"{at}/0": [say("Odd numbers differ."), call("try_test", path="t.py", text=TEST)],
        f"{at}/1": [
            say("That decides."),
            call("choose", label=labels.get(name, name), confidence="high", reason="half(3)"),
        ],
    }


async def test_three_equal_votes_end_it(tmp_path: Path) -> None:
    """The lead cannot be caught after three of five; selectors four and five are never asked."""
    script = choosing(1, "G2") | choosing(2, "G2") | choosing(3, "G2")
    contest = await hold(tmp_path, script)
    assert [(vote.chosen, vote.confidence) for vote in contest.votes] == [("G2", "high")] * 3
    assert await hold(tmp_path, {}) == contest  # read back from the journal: nothing is asked


async def test_votes_that_are_none_are_dropped_with_their_reason(tmp_path: Path) -> None:
    """Abstaining, an unknown label, refusing and rambling count for nobody."""
    script = choosing(1, "abstain") | choosing(2, "Z") | choosing(4, "G1") | choosing(5, "G1")
    script |= {f"vote/contest:2/{turn}": script["vote/contest:2/1"] for turn in (2, 3, 4)}
    script["vote/contest:3/0"] = {"content": [say("No.")], "stop_reason": "refusal"}
    contest = await hold(tmp_path, script)
    assert [vote.chosen for vote in contest.votes] == ["", "", "", "G1", "G1"]
    assert [vote.reason for vote in contest.votes[:3]] == [
        "half(3)",
        "The selector ended without an answer (stuck: the same call had the same result 4 times "
        "in a row, and a warning did not help).",
        "The selector ended without an answer (refused).",
    ]


async def test_a_lost_workspace_is_a_dropped_vote(tmp_path: Path) -> None:
    """Nothing is lost but the vote: the run goes on without a contest's help."""
    contest = await hold(tmp_path, {}, broken=True)
    assert [vote.chosen for vote in contest.votes] == [""] * 5
    assert "The container is gone." in contest.votes[0].reason


async def test_a_test_is_tried_on_each_candidate_in_its_own_state(tmp_path: Path) -> None:
    """The base and the wrong candidate fail, the right one passes; nothing stays behind."""
    workspace = LocalWorkspace(tmp_path / "own", {"calc.py": BASE})
    patches = {"A": TIED["G1"].patch, "B": TIED["G2"].patch, "C": "no patch"}
    known = await states(workspace, patches)
    tools = {tool.spec.name: tool for tool in selector_tools(workspace, known)}
    assert list(known) == ["base", "A", "B"]  # what does not apply cannot be looked at

    seen = (await tools["try_test"].run({"path": "t.py", "text": TEST})).text
    counts = dict(re.findall(r"^\[(\w+)\] (\d) failed", seen, re.MULTILINE))
    assert counts == {"base": "1", "A": "1", "B": "0"}
    assert await workspace.diff() == ""

    assert "those of B" in (await tools["put"].run({"label": "b"})).text
    assert "x / 2" in await workspace.read("calc.py")
    assert (await tools["put"].run({"label": "Q"})).is_error
    assert (
        await tools["choose"].run({"label": "base", "confidence": "low", "reason": ""})
    ).is_error
    assert "edit" not in tools
