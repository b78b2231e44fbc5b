"""Every role given every kind of bad answer: the run ends, and its decision says what was lost.

A row of ROLES is a role with its address, and what its answers look like when they name what is
not there or leave everything out. A diagonal is tried every day, the whole table at night.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.github.source import MirrorSource
from emulator.model.scripted import call, say
from pipeline.errors import RunRefused
from pipeline.services import RunConfig
from pipeline.values import Decision
from tests import small
from tests.played import play

LEAN = RunConfig(
    n_global=2, n_local=1, n_synthesis=1, effort="lean", planner_turns=8, coder_turns=8
)
TIED = RunConfig(n_global=2, n_local=0, n_synthesis=0, selector_turns=8)
EQUAL: dict[str, dict[str, object]] = {
    "G1": {"patch": small.patch(small.FIXED)},
    "G2": {"patch": small.patch(small.FIXED.replace("x / 2", "x * 0.5"))},
}
ALONE: dict[str, dict[str, object]] = {"S1": {"reproduction": None}}  # nobody else could pass it
PLAN: dict[str, Any] = {
    "summary": "Write the operators.",
    "root_cause": "They are missing.",
    "expected_behaviour": "double doubles.",
    "strategy": "Write them.",
    "context": [{"path": "calc.py", "symbol": "double"}],
    "changes": [{"path": "calc.py", "what": "Write it.", "symbol": "double", "sources": ["G1"]}],
}
GONE = [{"path": "gone.py", "what": "Write it.", "sources": ["G1"]}]
JUDGED: dict[str, Any] = {**PLAN, "defects": [], "complements": [], "rejected": []}
ALIKE = dict.fromkeys(("root_cause", "expected_behaviour", "strategy", "context"), "different")
QUOTE = small.BODY[:30]
LOOK = [say("Again."), call("view", path="calc.py")]
LOST = "had to do without the verdict"


@dataclass(frozen=True)
class Role:
    """Who answers at `at`, and how the two answers that only this role can give end.

    `strange` names what does not exist, `nothing` is an answer with nothing in it. `says` is the
    beginning of what the decision tells when no answer could be had, with the reason in place of
    REASON; `strange_ends` and `nothing_ends` are reasons, "" where such an answer does no harm.
    """

    at: str
    says: str
    strange: list[Any]
    strange_ends: str
    nothing: list[Any]
    nothing_ends: str
    final: str = "answer"
    config: RunConfig = LEAN
    wins: bool = True

    @property
    def is_agent(self) -> bool:
        """Whether it answers in turns."""
        return self.final != "answer"

    def everywhere(self, answer: Any) -> dict[str, Any]:
        """The same answer to all that is asked: turn after turn, or again and again."""
        ends = map(str, range(8)) if self.is_agent else ("", ".fix1", ".fix2")
        return {f"{self.at}/{end}" if self.is_agent else self.at + end: answer for end in ends}


def verdict(at: str, name: str, strange: Any, ends: str, nothing: Any, nothing_ends: str) -> Role:
    """A role that gives a single answer about the item of `at`."""
    item = at.split("/")[1]
    says = f"{item} {LOST} `{name}`: .*REASON"
    answers = [call("answer", **strange)], [call("answer", **nothing)]
    return Role(at, says, answers[0], ends, answers[1], nothing_ends)


ROLES = {
    "planner": Role(
        "global/G2",
        r"G2 ended without a plan \(REASON",
        [call("submit_plan", **{**PLAN, "changes": GONE})],
        r"stuck: .*\)\. .*do not exist: gone\.py",
        [call("submit_plan", **{**PLAN, "changes": []})],
        r"stuck: .*\)\. .*at least one change",
        final="submit_plan",
    ),
    "local planner": Role(
        "local/L1.1",
        r"L1\.1 ended without a plan \(REASON",
        [call("submit_plan", **{**PLAN, "context": [{"path": "/etc/passwd"}]})],
        r"stuck: .*\)\. .*outside the repository",
        [call("submit_plan", **{**PLAN, "context": []})],
        r"stuck: .*\)\. .*one place",
        final="submit_plan",
    ),
    "guide": verdict(
        "global/G2/guide",
        "divergence_guide",
        {
            "earlier": [],
            "guide": "Look in gone.py.",
            "evidence_to_seek": "gone.py",
            "difference": "d",
            "avoid_edit_points": ["gone.py:x"],
        },
        "",
        {"earlier": [], "guide": "", "evidence_to_seek": "", "difference": ""},
        "",
    ),
    "contrast": verdict(
        "global/G2/contrast",
        "contrast",
        {"compared": [{"earlier": "G9", **ALIKE, "reasons": "r"}], "advice": ""},
        "",
        {"compared": [], "advice": ""},
        "",
    ),
    "permutation": verdict(
        "local/L1.1/rank", "rank", {"order": [77, -1]}, "every step index", {"order": []}, "step"
    ),
    "local guide": verdict(
        "local/L1.1/guide",
        "local_guide",
        {"earlier": [], "untouched": ["gone.py"], "guide": "Look in gone.py."},
        "",
        {"earlier": [], "untouched": [], "guide": ""},
        "",
    ),
    "completeness": verdict(
        "synthesis/S1/completeness",
        "completeness",
        {
            "locations": [
                {"path": "../gone.py", "symbol": "x", "why": "w"}
                | {"covered_by": ["G9"], "missing_in": []}
            ]
        },
        "",
        {"locations": []},
        "",
    ),
    "risk": verdict(
        "synthesis/S1/risk",
        "risk",
        {
            "risks": [
                {"candidate": "G9", "behaviour": "b", "call_sites": ["gone.py:x"]}
                | {"severity": "low", "revealing_test": "t"}
            ]
        },
        "",
        {"risks": []},
        "",
    ),
    "judge": verdict(
        "synthesis/S1/judge",
        "judge",
        {**JUDGED, "changes": GONE},
        r"gone\.py does not exist",
        {**JUDGED, "changes": []},
        "no change",
    ),
    "coder": Role(
        "code/S1",
        r"No candidate from the coder of S1 \(REASON",
        [call("submit", summary="s", status="fixed", tests=["gone.py"])],
        "stuck",
        [call("submit", summary="s", status="fixed")],
        "",
        final="submit",
        wins=False,
    ),
    "test agent": Role(
        "verify/exclusions/exclusions",
        "No existing test was left out: .*REASON",
        [call("answer", exclusions=[{"test": "gone.py::x", "quote": QUOTE, "reason": "r"}])],
        "not one of the listed tests",
        [call("answer", exclusions=[])],
        "",
    ),
    "selector": Role(
        "vote/contest:1",
        r"The selector ended without an answer \(REASON",
        [call("choose", label="Q", confidence="low", reason="r")],
        "stuck",
        [call("choose", label="abstain", confidence="low", reason="")],
        "",
        final="choose",
        config=TIED,
    ),
}

# fault: (the answer, how an agent ends, why a verdict is none)
FAULTS: dict[str, tuple[Any, str, str]] = {
    "empty": ([], "malformed", "exactly once"),
    "truncated": ({"content": LOOK, "stop_reason": "max_tokens"}, "malformed", "cut off"),
    "malformed": ([call("FINAL", nonsense=1)], "malformed", "nonsense"),
    "unreadable": ([call("FINAL", summary="\ud800")], "malformed", "cannot be read"),
    "unknown end": ({"content": LOOK, "stop_reason": "moon"}, "malformed", "moon"),
    "talking": ([say("I would rather talk.")], "malformed", "exactly once"),
    "refusing": ({"content": [say("No.")], "stop_reason": "refusal"}, "refused", "declined"),
    "looping": (LOOK, "stuck", "exactly once"),
    "too long": (None, "context", "too long"),
    "full": (
        {"content": [], "stop_reason": "model_context_window_exceeded"},
        "context",
        "does not fit",
    ),
    "strange": (None, "", ""),
    "nothing": (None, "", ""),
}


@dataclass(frozen=True)
class Case:
    """One cell of the table."""

    role: Role
    answers: dict[str, Any]
    reason: str
    faults: list[dict[str, Any]] = field(default_factory=list)


def case(role: Role, fault: str) -> Case:
    """What is played, and the reason that has to be told ("" for an answer that does no harm)."""
    if fault == "strange":
        return Case(role, role.everywhere(role.strange), role.strange_ends)
    if fault == "nothing":
        return Case(role, role.everywhere(role.nothing), role.nothing_ends)
    answer, agent, why = FAULTS[fault]
    reason = agent if role.is_agent else why
    if fault == "too long":
        return Case(role, {}, reason, [{"kind": "413", "address": f"{role.at}*", "times": 99}])
    if isinstance(answer, list):
        answer = [{**block, "name": role.final} if _is_final(block) else block for block in answer]
    return Case(role, role.everywhere(answer), reason)


def _is_final(block: dict[str, Any]) -> bool:
    return block.get("name") == "FINAL"


DAILY = {(role, list(FAULTS)[n % len(FAULTS)]) for n, role in enumerate(ROLES)}
TABLE = [
    pytest.param(
        *(role, fault),
        marks=() if (role, fault) in DAILY else pytest.mark.nightly,
        id=f"{role}-{fault}",
    )
    for role in ROLES
    for fault in FAULTS
    if (role, fault) != ("coder", "refusing")  # it is the only one: see below
]


@pytest.mark.parametrize(("role", "fault"), TABLE)
async def test_a_bad_answer_has_an_end_and_a_reason(
    role: str, fault: str, source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """The rest of the run goes on to its decision, which says in words what was wrong."""
    bad = case(ROLES[role], fault)
    script = small.script(**(EQUAL if bad.role.config is TIED else ALONE))
    ran = await play(
        *(source, environments, {**script, **bad.answers}, tmp_path / "run.jsonl"),
        config=bad.role.config,
        faults=bad.faults,
    )
    said = " | ".join(told(ran.decision))
    if bad.reason:
        assert re.search(bad.role.says.replace("REASON", bad.reason), said), said
    else:
        assert re.search(bad.role.says.replace("REASON", ""), said) is None, said
    assert (ran.decision.outcome == "patch") is bad.role.wins, said
    if not bad.role.wins:
        assert all(gate.reasons for gate in ran.decision.ballot.gates), "and why nothing won"


async def test_a_lone_coder_that_refuses_ends_the_run(
    source: MirrorSource, environments: Path, tmp_path: Path
) -> None:
    """All samples were declined, so the run is refused rather than undecided."""
    script = small.script() | case(ROLES["coder"], "refusing").answers
    with pytest.raises(RunRefused, match="1 of 1 samples"):
        await play(source, environments, script, tmp_path / "run.jsonl", config=LEAN)


def told(decision: Decision) -> list[str]:
    """What the decision says of samples, verdicts and votes that were lost."""
    votes = decision.contest.votes if decision.contest is not None else ()
    return [*decision.notes, *(vote.reason for vote in votes)]
