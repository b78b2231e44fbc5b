"""How many plans get a coder, and what a run says about the others."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.github.source import MirrorSource
from pipeline.ballot import Pool
from pipeline.choose.vote import vote
from pipeline.decide import Assessed
from pipeline.explore.state import Explored
from pipeline.recipes.effort import enough, left_out, waves
from pipeline.services import Effort, RunConfig
from pipeline.values import (
    Candidate,
    Edit,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
)
from tests import small
from tests.played import Ran, play

PLAN = Plan("s", Solution("r", "e", "m", ()), ())
# Both halves by way of a third function: nothing that is run tells it from the plain repair.
ELSEWHERE = small.FIXED.replace("return x * 2", "return times(x, 2)") + (
    "\n\ndef times(x, n):\n    return x * n\n"
)
STAGES = {"G": "global", "L": "local", "S": "synthesis"}


def explored(*lost: str) -> list[Explored]:
    """The twelve of a run; those in `lost` have no plan."""
    return [
        Explored(name, STAGES[name[0]], (), None if name in lost else PLAN, None, "submitted")  # type: ignore[arg-type] # one of three
        for name in small.NAMES
    ]


def names(config: RunConfig, *lost: str) -> list[str]:
    """Each wave's ids in one text."""
    return [" ".join(each.id for each in wave) for wave in waves(config, explored(*lost))]


def test_full_codes_every_plan_at_once() -> None:
    """The paper's way: all twelve, in one wave."""
    assert names(RunConfig()) == [" ".join(small.NAMES)]
    assert names(RunConfig(), *small.NAMES) == []


@pytest.mark.parametrize("config", [RunConfig(effort="adaptive"), RunConfig(stop_early=True)])
def test_independent_explanations_come_first(config: RunConfig) -> None:
    """Integrated plans, then one wave per round of explanations and of their branches."""
    assert names(config) == ["S1 S2 S3", "G1 G2 G3", "L1.1 L2.1 L3.1", "L1.2 L2.2 L3.2"]
    assert names(config, "S1", "S2", "S3", "L1.1")[:2] == ["G1 G2 G3", "L2.1 L3.1"]


def test_lean_codes_the_integrated_plans() -> None:
    """Three coders, however many plans there are; without a synthesis the explanations."""
    assert names(RunConfig(effort="lean")) == ["S1 S2 S3"]
    assert names(RunConfig(effort="lean"), "S2") == ["S1 S3"]
    assert names(RunConfig(effort="lean"), "S1", "S2", "S3") == ["G1 G2 G3"]


def test_what_got_no_coder_is_one_sentence() -> None:
    """Plans that were lost before are not among it: another note tells of them."""
    said = left_out(explored("G1")[:3], "they agree")
    assert said == ("No coder carried out the plans G2, G3: they agree.",)
    assert left_out(explored()[:1], "") == (
        "No coder carried out the plan G1: the effort `lean` codes the integrated plans only.",
    )
    assert left_out(explored("G1")[:1], "they agree") == ()


def pool(
    *patches: str, ran: bool = True, fails: tuple[str, ...] = (), shown: bool = True, by: str = "S"
) -> Assessed:
    """Candidates of one stage with these keys; a reproduction of the first, and the ballot."""
    ids = [f"{by}{number}" for number in range(1, len(patches) + 1)]
    candidates = tuple(
        Candidate(name, STAGES[by], (), PLAN, text, exit_status="submitted")  # type: ignore[arg-type] # one of three
        for name, text in zip(ids, patches, strict=True)
    )
    test = Reproduced("1:t", Reproduction("t", "", ids[0]), ("t",))
    evidence = {
        each.id: Evidence(
            each.id,
            PolicyVerdict(),
            applies=True,
            parses=True,
            edit=Edit(each.patch),
            regression_ran=ran,
            lost=("t",) if each.id in fails else (),
            reproductions={"1:t": "pass"} if shown else {},
        )
        for each in candidates
    }
    tests = (test,) if shown else ()
    ballot = vote(candidates, evidence, tests, has_suite=ran)
    return Assessed(Pool(candidates, evidence, tests, (), ran), ballot)


@pytest.mark.parametrize(
    ("seen", "is_enough"),
    [
        (pool("a", "a", "a"), True),
        (pool("a", "a", "b", fails=("S3",)), True),  # what the suite refutes is no disagreement
        (pool("a", "a", "b"), False),
        (pool("a", "b", "b", fails=("S2", "S3")), False),  # one alone agrees with nobody
        (pool("a", "a", "a", fails=("S1", "S2", "S3")), False),
        (pool("a", "a", "a", ran=False), False),
        (pool("a", "a", "a", shown=False), False),
    ],
    ids=["agree", "refuted", "disagree", "alone", "nothing passes", "no suite", "no test"],
)
def test_integrated_candidates_settle_an_adaptive_run(seen: Assessed, is_enough: bool) -> None:
    """Two that pass with the same change and full evidence, and none that passes with another."""
    assert bool(enough(RunConfig(effort="adaptive"), seen, 9)) is is_enough


def test_independent_agreement_with_full_evidence_ends_a_run() -> None:
    """Beyond the integrated plans two separate explanations that agree are enough, one is not."""
    for config in (RunConfig(effort="adaptive"), RunConfig(stop_early=True)):
        assert "separate explanations" in enough(config, pool("a", "b", "a", by="G"), 3)
        assert enough(config, pool("a", "b", "c", by="G"), 3) == ""
        assert enough(config, pool("a", "b", "a", by="G", shown=False), 3) == ""


def test_a_used_up_budget_ends_every_effort() -> None:
    """Coders that could not ask a single question are not opened one after the other."""
    seen = pool("a", "b")
    first, *others = seen.pool.candidates
    out = replace(first, exit_status="budget")
    seen = replace(seen, pool=replace(seen.pool, candidates=(out, *others)))
    for effort in ("full", "adaptive"):
        assert enough(RunConfig(effort=effort), seen, 9) == "the budget is used up"  # type: ignore[arg-type] # one of three


async def run(
    effort: Effort, source: MirrorSource, folder: Path, journal: Path, **changes: dict[str, object]
) -> Ran:
    """Two explanations, a branch of each and two syntheses; `changes` as for `small.script`."""
    config = RunConfig(effort=effort, n_global=2, n_local=1, n_synthesis=2)
    script = small.script(**changes)
    return await play(source, folder, script, journal, config=config)


def coded(ran: Ran) -> set[str]:
    """Whose coders were asked."""
    return {each.split("/")[1] for each in ran.addresses if each.startswith("code/")}


async def test_lean_and_adaptive_stop_at_agreeing_syntheses(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """Both code the two integrated plans, decide for their change, and say what was not run."""
    for effort, reason in (("lean", "effort `lean`"), ("adaptive", "agree and pass")):
        ran = await run(effort, source, environments, tmp_path / effort)  # type: ignore[arg-type] # one of three
        assert coded(ran) == {"S1", "S2"}
        assert (ran.decision.outcome, ran.decision.ballot.winner) == ("patch", "S1")
        (said,) = ran.decision.not_run
        assert said.startswith("No coder carried out the plans G1, G2, L1.1, L2.1: ")
        assert reason in said
    again = await run("adaptive", source, environments, tmp_path / "adaptive")
    assert again.calls == []  # read back, it stops where it stopped
    assert again.decision == ran.decision


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        pytest.param({"S2": {"patch": small.patch(ELSEWHERE)}}, "patch", id="disagree"),
        pytest.param(
            {name: {"patch": small.patch(small.BREAKS_ZERO)} for name in ("S1", "S2")},
            "patch",
            id="nothing passes",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {name: {"reproduction": None} for name in ("S1", "S2")},
            "patch",
            id="no test shows the bug",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            {name: {"ending": "no_patch"} for name in small.NAMES}, "no_patch", id="all fail"
        ),
    ],
)
async def test_adaptive_goes_on_where_that_can_help(
    source: MirrorSource,
    environments: Path,
    tmp_path: Path,
    changes: dict[str, dict[str, object]],
    outcome: str,
) -> None:
    """Disagreement, failure and missing evidence bring further coders; all failing says why."""
    changes = {"G2": {"patch": small.patch(small.FIXED)}, **changes}
    ran = await run("adaptive", source, environments, tmp_path / "run.jsonl", **changes)
    assert {"S1", "S2", "G1", "G2"} <= coded(ran)
    assert ran.decision.outcome == outcome
    if outcome == "no_patch":
        assert len(ran.decision.candidates) == len(ran.decision.ballot.gates) == 6
        assert all(gate.reasons for gate in ran.decision.ballot.gates)
