"""Local branches as the settings want them."""

from pathlib import Path

import pytest

from emulator.model.scripted import call, say
from pipeline.explore.sample import sample_contrast
from pipeline.explore.state import Exploration, Explored
from pipeline.explore.vary import vary
from tests.pipeline.explore.test_bad_answers import Played, submit


@pytest.mark.parametrize(("weights", "step"), [("page", 3), ("code", 1)])
async def test_the_setting_decides_where_a_branch_leaves(
    tmp_path: Path, weights: str, step: int
) -> None:
    """The same ranking of five steps leads to another s*; what stood before it is kept."""
    looks = [[say("Look."), call("view", path="calc.py", start=n)] for n in (1, 2, 1, 2)]
    script = {f"global/G1/{n}": turn for n, turn in enumerate([*looks, submit()])}
    script["local/L1.1/rank"] = [call("answer", order=[1, 3, 2, 0, 4])]
    script["local/L1.1/guide"] = [call("answer", earlier=[], untouched=[], guide="Elsewhere.")]
    script["local/L1.1/0"] = submit(strategy="Divide where it is called.")

    async def work(x: Exploration) -> tuple[Explored, ...]:
        (parent,) = await sample_contrast(x, 1)
        return (parent, *await vary(x, parent, 1))

    played = Played(tmp_path)
    parent, branch = await played.run(work, script, branch_weights=weights, planner_turns=6)
    assert branch.branch_step == step
    assert branch.transcript.turns[: step - 1] == parent.transcript.turns[: step - 1]
    assert len(branch.transcript.turns) == step + 1
