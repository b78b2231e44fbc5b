"""The recipe on a tiny repository: what it asks, what it survives, what it decides."""

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, get_args

import pytest

from app.github.source import MirrorSource
from emulator.model.scripted import call, say
from pipeline.choose.vote import vote
from pipeline.contest.tally import labelled
from pipeline.errors import EmptyRepository, ModelRejected
from pipeline.journal import JsonLinesJournal, read_events
from pipeline.jsonable import from_json, to_json
from pipeline.services import PipelineStage, RunConfig
from pipeline.timing import critical_path, spans_in
from pipeline.values import Decision
from tests import small
from tests.played import Ran, play


async def test_twelve_candidates_and_a_winner_that_fixes_both_halves(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """The paper's counts, each plan with its origin, and a patch that holds both operators."""
    astray = (
        (
            say("This may do; now another way."),
            call("checkpoint", name="repaired", note="passes"),
            call("shell", command="echo 'broken(' > calc.py; echo x > scratch.txt"),
        ),
        (say("That leads nowhere."), call("go_back", name="repaired")),
    )
    script = small.script(S1={"extra_turns": astray})
    ran = await play(source, environments, script, tmp_path / "run.jsonl")
    decision = ran.decision

    patches = {each.id: each.patch for each in decision.candidates}
    assert patches["S1"] == patches["S2"]  # one coder went astray and came back
    assert tuple(each.id for each in decision.candidates) == small.NAMES
    stages = [each.stage for each in decision.candidates]
    assert (stages.count("global"), stages.count("local"), stages.count("synthesis")) == (3, 6, 3)
    assert {each.id: each.parents[0] for each in decision.candidates if each.parents} == {
        **{f"L{k}.{j}": f"G{k}" for k in (1, 2, 3) for j in (1, 2)},
        **{f"S{k}": f"G{k}" for k in (1, 2, 3)},
    }
    assert decision.ballot.winner in {"L1.2", "L2.2", "L3.2", "S1", "S2", "S3"}
    assert "+    return x * 2" in decision.patch
    assert "+    return x / 2" in decision.patch
    assert ("local", 6, 6) in ran.stages
    assert ran.stages[-1] == ("vote", 1, 1)
    assert {name: written_for_an_hour(ran, name) > 0 for name in ("G1", "G2", "G3")} == {
        "G1": True,
        "G2": True,
        "G3": False,  # its first branch leaves at once
    }


def written_for_an_hour(ran: Ran, name: str) -> int:
    """Tokens of a global planner's conversation that the cache was asked to keep for long."""
    return sum(
        call["usage"]["cache_creation"]["ephemeral_1h_input_tokens"]
        for call in ran.calls
        if call["address"].startswith(f"global/{name}/")
    )


async def test_agents_work_side_by_side_up_to_the_limit(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """Twelve coders keep five places full, and the journal says what the run waited for."""
    journal, config = tmp_path / "run.jsonl", RunConfig(max_parallel=5)
    await play(source, environments, small.script(), journal, config=config)
    events = list(read_events(journal.read_text()))
    assert most_at_once(events, "code") == 5
    assert most_at_once(events, "local") == 3
    assert most_at_once(events, "global") == 1
    chain = [each.item.partition("/")[0] for each in critical_path(spans_in(events))]
    assert chain == sorted(chain, key=get_args(PipelineStage).index)
    assert {"global", "local", "synthesis", "code", "verify"} <= set(chain)


def most_at_once(events: list[dict[str, Any]], stage: str) -> int:
    """How many items of a stage were begun and not finished, at most."""
    steps = {"start": 1, "finish": -1}
    ours = [e["event"] for e in events if e.get("item", "").startswith(f"{stage}/")]
    return max(accumulate(steps[event] for event in ours))


async def test_the_vote_is_the_same_again_from_the_stored_decision(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """Read back from JSON, the evidence gives the same ballot."""
    ran = await play(source, environments, small.script(), tmp_path / "run.jsonl")
    again = from_json(Decision, to_json(ran.decision))

    assert again == ran.decision
    ballot = vote(again.candidates, again.evidence, again.reproductions, has_suite=True)
    assert ballot == ran.decision.ballot


async def test_a_second_start_with_the_journal_asks_nothing(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """With every item finished, resolving again makes no call and decides the same."""
    journal = tmp_path / "run.jsonl"
    first = await play(source, environments, small.script(), journal)
    second = await play(source, environments, small.script(), journal)

    assert second.calls == []
    assert second.decision == first.decision


async def test_one_lost_sample_takes_its_branches_and_no_more(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """A planner that the model refuses loses G2, L2.1, L2.2 and S2; the rest votes."""
    script = small.script()
    script["global/G2/0"] = {"content": [say("No.")], "stop_reason": "refusal"}
    ran = await play(source, environments, script, tmp_path / "run.jsonl")

    lost = {"G2", "L2.1", "L2.2", "S2"}
    assert {each.id for each in ran.decision.candidates} == set(small.NAMES) - lost
    assert ran.decision.outcome == "patch"
    assert "G2 ended without a plan (refused)." in ran.decision.notes


async def test_one_lost_workspace_takes_its_candidate_and_no_more(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """A coder that destroys its workspace ends with an empty patch; the rest votes."""
    script = small.script()
    script["code/G2/0"] = [call("shell", command='rm -rf "$PWD"')]
    ran = await play(source, environments, script, tmp_path / "run.jsonl")

    (lost,) = (each for each in ran.decision.candidates if each.id == "G2")
    assert (lost.patch, lost.exit_status) == ("", "error")
    assert len(ran.decision.candidates) == len(small.NAMES)
    assert ran.decision.outcome == "patch"
    (said,) = (note for note in ran.decision.notes if "coder of G2" in note)
    assert said.startswith("No candidate from the coder of G2 (error: its workspace failed: ")


async def test_a_solution_that_stays_too_close_is_kept_with_a_flag(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """G3 is sent back twice in the same conversation, then kept as weakly different."""
    script = small.script()
    compared = [
        {
            "earlier": name,
            "root_cause": "same",
            "expected_behaviour": "same",
            "strategy": "same",
            "context": "same",
            "reasons": "all alike",
        }
        for name in ("G1", "G2")
    ]
    again = script[max(a for a in script if a.startswith("global/G3/") and a[-1].isdigit())]
    same = [call("answer", compared=compared, advice="the operators")]
    script |= {"global/G3/contrast": same}
    for regeneration in ("r1", "r2"):
        script[f"global/G3/{regeneration}.0"] = again
        script[f"global/G3/{regeneration}.contrast"] = same
    ran = await play(source, environments, script, tmp_path / "run.jsonl")

    flags = {each.id: each.flags for each in ran.decision.candidates}
    assert flags["G3"] == ("weak_divergence",)
    assert flags["G2"] == ()
    assert [a for a in ran.addresses if a.startswith("global/G3/r")] == [
        "global/G3/r1.0",
        "global/G3/r1.contrast",
        "global/G3/r2.0",
        "global/G3/r2.contrast",
    ]


async def test_a_judge_without_sources_falls_back_to_the_spine(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """After two repairs the spine's plan is coded instead, and the candidate says so."""
    script = small.script()
    for turn in ("judge", "judge.fix1", "judge.fix2"):
        (answer,) = small.script()["synthesis/S1/judge"]
        changes = [{**change, "sources": []} for change in answer["input"]["changes"]]
        script[f"synthesis/S1/{turn}"] = [call("answer", **{**answer["input"], "changes": changes})]
    ran = await play(source, environments, script, tmp_path / "run.jsonl")

    (s1,) = (each for each in ran.decision.candidates if each.id == "S1")
    (g1,) = (each for each in ran.decision.candidates if each.id == "G1")
    assert s1.flags == ("spine_fallback",)
    assert s1.plan == g1.plan


async def test_selectors_decide_what_evidence_and_vote_cannot(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """Two patches that are equal in everything counted: what selectors choose is published."""
    both = {"G1": small.FIXED, "G2": small.FIXED.replace("x / 2", "x * 0.5")}
    script = small.script(**{name: {"patch": small.patch(text)} for name, text in both.items()})
    for number in range(1, 4):
        label = next(key for key, name in labelled(both, "run", number).items() if name == "G2")
        choice = call("choose", label=label, confidence="high", reason="It is exact.")
        script[f"vote/contest:{number}/0"] = [choice]
    config = RunConfig(n_global=2, n_local=0, n_synthesis=0)
    ran = await play(source, environments, script, tmp_path / "run.jsonl", config=config)

    contest = ran.decision.contest
    assert contest is not None
    assert [vote.chosen for vote in contest.votes] == ["G2"] * 3
    assert ran.decision.ballot.winner == "G2"
    assert ran.decision.ballot.tie == ()
    assert "+    return x * 0.5" in ran.decision.patch


async def test_a_small_budget_ends_in_a_vote_over_what_exists(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """When the money is used up nothing more is asked, and the end says why."""
    ran = await play(source, environments, small.script(), tmp_path / "run.jsonl", limit_usd=0.5)

    spent = await JsonLinesJournal(tmp_path / "run.jsonl", 0.5).spent()
    assert spent.cost_usd <= 0.5
    assert any("(budget: " in note for note in ran.decision.notes)


async def test_a_refused_key_is_an_error_at_once(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """Nothing will change by trying again, so the run ends with the API's words."""
    with pytest.raises(ModelRejected, match="key"):
        await play(source, environments, small.script(), tmp_path / "run.jsonl", key="refused")


async def test_a_commit_without_files_is_said(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """An empty tree is an error of its own, before anything is asked or prepared."""

    @dataclass(frozen=True)
    class Empty:
        repository: str = "calc"
        base_commit: str = source.base_commit

        async def files(self) -> tuple[str, ...]:
            return ()

    with pytest.raises(EmptyRepository):
        await play(Empty(), environments, {}, tmp_path / "run.jsonl")  # type: ignore[arg-type] # has what is read
