"""What a model can answer wrongly while exploring, and how each case ends."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emulator.model.scripted import call, say
from pipeline.agent.transcript import Transcript
from pipeline.explore.sample import sample_contrast
from pipeline.explore.state import Exploration, Explored
from pipeline.explore.synthesize import materials, synthesize
from pipeline.explore.vary import vary
from pipeline.journal import JsonLinesJournal
from pipeline.services import PipelineStage, RunConfig, Services
from pipeline.values import Change, Location, Plan, Solution, Task
from tests.fakes import LocalWorkspace, MemorySource, scripted_model

FILES = {"calc.py": "def half(x):\n    return x\n"}
FIELDS: dict[str, Any] = {
    "summary": "Divide.",
    "root_cause": "It returns its input.",
    "expected_behaviour": "half halves.",
    "strategy": "Write the operator.",
    "context": [{"path": "calc.py", "symbol": "half", "start": 1, "end": 2, "why": "wrong"}],
    "changes": [{"path": "calc.py", "what": "Divide by 2.", "symbol": "half", "sources": ["G1"]}],
}
REFUSAL = {"content": [say("No.")], "stop_reason": "refusal"}
NONSENSE = [call("answer", nonsense=1)]
SOLUTION = Solution("It returns its input.", "half halves.", "Divide.", (Location("calc.py"),))
PLAN = Plan("s", SOLUTION, (Change("calc.py", "Divide.", "half"),))
G1 = Explored("G1", "global", (), PLAN, Transcript("Plan it."), "submitted")


class Quiet:
    """A Progress that nobody listens to."""

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """Say nothing."""


def submit(**changes: Any) -> list[Any]:
    """A planner's last turn."""
    return [say("Done."), call("submit_plan", **{**FIELDS, **changes})]


def everywhere(at: str, answer: Any) -> dict[str, Any]:
    """The same answer to a verdict and to both repairs of it."""
    return dict.fromkeys((at, f"{at}.fix1", f"{at}.fix2"), answer)


class Played:
    """Explorations of the small folder, each with a script of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder, 0

    async def run(self, work: Any, script: dict[str, Any], **config: Any) -> Any:
        """What `work` makes of an exploration whose model answers by `script`."""
        self.runs += 1
        ledger = JsonLinesJournal(self.folder / f"{self.runs}.jsonl", 10.0)
        workspace = LocalWorkspace(self.folder / str(self.runs), FILES)
        async with scripted_model(script) as model:
            services = Services(
                "run",
                model,
                None,  # type: ignore[arg-type] # exploring opens no workspace
                MemorySource(FILES),
                ledger,
                ledger,
                Quiet(),
                RunConfig(**{"n_global": 2, "planner_turns": 4, **config}),
            )
            task = Task("calc", 1, "half", "half(4) should be 2", "0" * 40)
            return await work(Exploration(task, services, None, workspace, "Python"))  # type: ignore[arg-type] # exploring runs no tests


@pytest.fixture
def played(tmp_path: Path) -> Played:
    """Where scripts are played."""
    return Played(tmp_path)


async def first_synthesis(x: Exploration, *pool: Explored) -> Explored:
    """S1 with the first of the pool as its spine."""
    (material,) = await materials(x, pool[:1], pool)
    return await synthesize(x, 1, pool[0], material)


async def first_two(x: Exploration) -> tuple[Explored, ...]:
    """G1 and G2."""
    return await sample_contrast(x, 2)


@pytest.mark.parametrize(
    ("turns", "status"),
    [
        ([submit(changes=[])] * 4, "stuck"),
        ([submit(changes=[{"path": "gone.py", "what": "Divide."}])] * 4, "stuck"),
        ([submit(context=[{"path": "../calc.py"}])] * 4, "stuck"),
        ([submit(changes=[{"path": "../new.py", "what": "(new) Divide."}])] * 4, "stuck"),
        ([submit(context="calc.py")] * 3, "malformed"),
        ([[say("…")]] * 3, "malformed"),
        ([[]] * 3, "malformed"),
        ([REFUSAL], "refused"),
        ([[say("Look."), call("view", path="calc.py", start=n)] for n in range(1, 5)], "turns"),
    ],
    ids=[
        "no change",
        "no file",
        "outside",
        "new outside",
        "no list",
        "no call",
        "empty",
        "refuses",
        "looks on",
    ],
)
async def test_a_planner_that_hands_in_no_plan_is_one_lost_sample(
    played: Played, turns: list[Any], status: str
) -> None:
    """Its end has a name, and the next planner starts as if it had never been."""
    script = {f"global/G1/{n}": turn for n, turn in enumerate(turns)}
    lost, good = await played.run(first_two, script | {"global/G2/0": submit()})
    assert (lost.plan, lost.exit_status) == (None, status)
    assert good.plan is not None
    assert good.notes == ()  # nothing to be compared with


async def test_a_file_that_is_to_be_made_may_be_named(played: Played) -> None:
    """Paths that do not exist yet are no error when the plan says that they are new."""
    made = [{"path": "new/helper.py", "what": "(new) Hold the rule."}]
    script = {"global/G1/0": submit(changes=made)}
    (first,) = await played.run(lambda x: sample_contrast(x, 1), script)
    assert first.plan.changes[0].path == "new/helper.py"


@pytest.mark.parametrize("bad", [NONSENSE, [], REFUSAL, [say("I would rather talk.")]])
async def test_a_guide_or_comparison_that_cannot_be_had_costs_no_sample(
    played: Played, bad: Any
) -> None:
    """The next planner is told where the others were; mechanical facts alone decide."""
    script = {
        "global/G1/0": submit(),
        **everywhere("global/G2/guide", bad),
        "global/G2/0": submit(strategy="Change what callers expect of it."),
        **everywhere("global/G2/contrast", bad),
    }
    _, second = await played.run(first_two, script)
    assert (second.exit_status, second.flags) == ("submitted", ())
    assert second.notes[0].startswith("Against G1: not compared; 100% of the edit points")
    assert FIELDS["root_cause"] in str(second.transcript.notes)


async def test_a_repeated_strategy_is_flagged_without_any_comparison(played: Played) -> None:
    """Near-duplicate words fail whatever the model says, twice; then it stays, with a flag."""
    script = {"global/G1/0": submit(), **everywhere("global/G2/guide", NONSENSE)}
    for prefix in ("", "r1.", "r2."):
        script |= {
            f"global/G2/{prefix}0": submit(),
            **everywhere(f"global/G2/{prefix}contrast", NONSENSE),
        }
    _, second = await played.run(first_two, script)
    assert second.flags == ("weak_divergence",)
    assert second.plan is not None


@pytest.mark.parametrize("bad", [NONSENSE, REFUSAL])
async def test_a_branch_without_rank_and_guide_still_goes_another_way(
    played: Played, bad: Any
) -> None:
    """The earliest step that may be left, and the plans that are taken already."""
    looks = [[say("Look."), call("view", path="calc.py", start=n)] for n in (1, 2)]
    script = {f"global/G1/{n}": turn for n, turn in enumerate([*looks, submit()])}
    script |= everywhere("local/L1.1/rank", bad) | everywhere("local/L1.1/guide", bad)
    script["local/L1.1/0"] = submit(strategy="Divide where it is called.")

    async def work(x: Exploration) -> tuple[Explored, ...]:
        (parent,) = await sample_contrast(x, 1)
        return await vary(x, parent, 1)

    (branch,) = await played.run(work, script)
    assert (branch.exit_status, branch.branch_step, branch.parents) == ("submitted", 1, ("G1",))
    assert FIELDS["strategy"] in str(branch.transcript.turns[0].user)


async def test_a_trajectory_of_one_step_is_started_anew(played: Played) -> None:
    """Nothing to fork at: the branch gets the opening, what stays fixed, and the guide."""
    guide = call("answer", earlier=[], untouched=[], guide="Do it in the caller.")
    script = {"global/G1/0": submit(), "local/L1.1/guide": [guide], "local/L1.1/0": submit()}

    async def work(x: Exploration) -> tuple[Explored, ...]:
        return await vary(x, (await sample_contrast(x, 1))[0], 1)

    (branch,) = await played.run(work, script)
    assert (branch.exit_status, branch.branch_step) == ("submitted", None)
    (told,) = branch.transcript.notes
    assert FIELDS["root_cause"] in told
    assert "Do it in the caller." in told


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (NONSENSE, "nonsense"),
        ([say("They are all fine.")], "exactly once"),
        (REFUSAL, "declined"),
        ({"changes": []}, "no change"),
        ({"changes": [{**FIELDS["changes"][0], "sources": []}]}, "sources"),
        ({"changes": [{**FIELDS["changes"][0], "sources": ["G9"]}]}, "sources"),
        ({"changes": [{**FIELDS["changes"][0], "path": "gone.py"}]}, "gone.py does not exist"),
        ({"changes": [{**FIELDS["changes"][0], "symbol": "third"}]}, "has no 'third'"),
        ({"context": [{"path": "calc.py", "symbol": "third"}]}, "has no 'third'"),
    ],
)
async def test_a_judge_whose_plan_cannot_stand_leaves_the_spine(
    played: Played, judge: Any, said: str
) -> None:
    """After its repairs the spine's own plan is taken, with a flag and the reason."""
    answer = judge
    if isinstance(judge, dict) and "content" not in judge:
        answer = [
            call("answer", **{**FIELDS, "defects": [], "complements": [], "rejected": [], **judge})
        ]
    script = {
        **everywhere("synthesis/S1/completeness", NONSENSE),
        **everywhere("synthesis/S1/risk", REFUSAL),
        **everywhere("synthesis/S1/judge", answer),
    }
    made = await played.run(lambda x: first_synthesis(x, G1), script)
    assert (made.plan, made.flags, made.parents) == (PLAN, ("spine_fallback",), ("G1",))
    assert [each.split("`")[1] for each in made.missing] == ["completeness", "risk", "judge"]
    assert said in made.missing[2]


async def test_a_synthesis_keeps_what_it_took_and_what_it_dropped(played: Played) -> None:
    """Defects, the matrix and rejected ideas are there for the rationale; scope says of whom."""
    other = replace(G1, id="G2")
    branch = replace(G1, id="L1.1", stage="local", parents=("G1",))
    answer = {
        **FIELDS,
        "defects": [{"candidate": "G1", "claim": "c", "verdict": "not_real", "reason": "r"}],
        "complements": [
            {"candidate": "L1.1", "dimension": "strategy", "relation": "adds", "what": "w"}
        ],
        "rejected": [{"candidate": "L1.1", "idea": "i", "reason": "r"}],
    }
    empty = {"locations": []}, {"risks": []}
    script = {
        "synthesis/S1/completeness": [call("answer", **empty[0])],
        "synthesis/S1/risk": [call("answer", **empty[1])],
        "synthesis/S1/judge": [call("answer", **answer)],
    }
    for scope in ("cross", "branch"):
        made = await played.run(
            lambda x: first_synthesis(x, G1, branch, other), script, synthesis_scope=scope
        )
        assert (made.synthesis.spine, made.synthesis.defects[0].verdict) == ("G1", "not_real")
        assert made.synthesis.complements[0].relation == "adds"
        assert made.synthesis.rejected[0].idea == "i"
    # of another branch nothing may be taken in the narrow scope
    taken = {**answer, "changes": [{**FIELDS["changes"][0], "sources": ["G2"]}]}
    script |= everywhere("synthesis/S1/judge", [call("answer", **taken)])
    flags = {
        scope: (
            await played.run(
                lambda x: first_synthesis(x, G1, branch, other), script, synthesis_scope=scope
            )
        ).flags
        for scope in ("cross", "branch")
    }
    assert flags == {"cross": (), "branch": ("spine_fallback",)}


async def test_the_same_plans_are_looked_up_once(played: Played) -> None:
    """Syntheses over one pool share their material; those of branches have their own."""
    spines = (G1, replace(G1, id="G2"))
    for scope, count in (("cross", 1), ("branch", 2)):
        made = await played.run(lambda x: materials(x, spines, spines), {}, synthesis_scope=scope)
        assert len({id(each) for each in made}) == count
        assert "def half" in made[1].code
