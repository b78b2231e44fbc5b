"""What the gate asks for when evidence is thin, step by step, and that the journal holds it."""

from pathlib import Path

import pytest

from pipeline.choose.vote import vote
from pipeline.items import step
from pipeline.journal import JsonLinesJournal
from pipeline.values import (
    Ballot,
    Candidate,
    CheckStatus,
    Edit,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
)

PLAN = Plan("s", Solution("r", "e", "m", ()), ())
OWN = Reproduced("G1:t", Reproduction("t", "", "G1"), ("t",))


def ballot(
    tests: tuple[Reproduced, ...],
    *,
    ran: bool = True,
    has_suite: bool = True,
    require_tests: bool = False,
    **seen: CheckStatus,
) -> Ballot:
    """G1 and G2 with different changes; `seen` is what G1's reproduction did on each."""
    evidence = {
        name: Evidence(
            name,
            PolicyVerdict(),
            applies=True,
            parses=True,
            edit=Edit(name),
            regression_ran=ran,
            reproductions={OWN.id: seen[name]} if name in seen else {},
        )
        for name in ("G1", "G2")
    }
    candidates = [Candidate(name, "global", (), PLAN, name) for name in evidence]
    return vote(candidates, evidence, tests, has_suite=has_suite, require_tests=require_tests)


STEPS: list[tuple[str, Ballot, set[str], str]] = [
    # a reproduction that a second candidate passes has to be passed
    ("counted", ballot((OWN,), G1="pass", G2="pass"), {"G1", "G2"}, ""),
    # one that only its author passes proves nothing, and is not replaced by nothing
    ("author only", ballot((OWN,), G1="pass", G2="fail"), set(), "anybody but its author"),
    ("missing", ballot((OWN,), G1="missing", G2="missing"), set(), "anybody but its author"),
    # only without any validated one is that clause dropped; the suite still has to speak
    ("none validated", ballot(()), {"G1", "G2"}, ""),
    ("no verdict", ballot((), ran=False), set(), "gave no verdict"),
    # only without any suite is that one dropped as well, unless the settings ask for tests
    ("no suite", ballot((), ran=False, has_suite=False), {"G1", "G2"}, ""),
    (
        "tests required",
        ballot((), ran=False, has_suite=False, require_tests=True),
        set(),
        "the settings ask for one",
    ),
]


@pytest.mark.parametrize(
    ("found", "gated", "reason"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS]
)
async def test_clauses_are_dropped_in_order_and_the_journal_says_so(
    found: Ballot, gated: set[str], reason: str, tmp_path: Path
) -> None:
    """Who may win at each step, with reasons, read back from the file as it was decided."""

    async def work(_attempt: int) -> Ballot:
        return found

    async def again(_attempt: int) -> Ballot:
        raise AssertionError("the journal holds it")

    path = tmp_path / "run.jsonl"
    await step(JsonLinesJournal(path, 1.0), "vote", "ballot", Ballot, work)
    kept = await step(JsonLinesJournal(path, 1.0), "vote", "ballot", Ballot, again)
    assert kept == found
    assert {gate.candidate for gate in kept.gates if gate.ok} == gated
    assert (kept.winner is not None) is bool(gated)
    said = " ".join(reason for gate in kept.gates for reason in gate.reasons)
    assert reason in said
    assert bool(said) is not bool(gated)
