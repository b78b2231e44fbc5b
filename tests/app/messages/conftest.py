"""A decision of twelve candidates as a run of the demo would make it."""

import pytest

from app.messages.facts import Removal, RunFacts
from pipeline.values import (
    Ballot,
    Candidate,
    Change,
    Cluster,
    Complement,
    Contest,
    ContestVote,
    Decision,
    Defect,
    Edit,
    Evidence,
    Exclusion,
    Gate,
    Location,
    Plan,
    PolicyVerdict,
    RejectedIdea,
    Reproduced,
    Reproduction,
    Solution,
    Synthesis,
    Usage,
)
from sandbox.patch.patch import combine

EVIL = (
    "@org/team Fixes #1 ![x](https://evil.example/?q=1) [a](javascript:x) <img src=x onerror=y> "
    "/prism rerun | `code` ``` \n> quote\n# head\n<!-- hidden --> GH-7 a/b#8 www.evil.example"
)
STAGES = {"G": "global", "L": "local", "S": "synthesis"}


def candidate(name: str, text: str, patch: str = "diff") -> Candidate:
    """A candidate whose every text is `text`."""
    solution = Solution(
        root_cause=f"{text} cause of {name}",
        expected_behaviour=text,
        strategy=text,
        context=(Location("src/calc.py", "add", 3, 9, text),),
    )
    sources = ("G1", "L2.2") if name.startswith("S") else ()
    plan = Plan(
        summary=f"{text} summary of {name}",
        solution=solution,
        changes=(Change("src/calc.py", text, "add", text, sources),),
        risks=(text,),
    )
    made = Synthesis(
        "G1",
        (Defect("G2", text, "not_real", text), Defect("G1", text, "real", text)),
        (Complement("L2.2", "strategy", "adds", text),),
        (RejectedIdea("G2", text, text),),
    )
    return Candidate(
        name,
        STAGES[name[0]],
        sources,
        plan,
        patch,
        exit_status="submitted",
        synthesis=made if name.startswith("S") else None,
    )


def evidence(name: str, **other) -> Evidence:
    """Evidence of a candidate that passed everything."""
    values = {
        "policy": PolicyVerdict(),
        "applies": True,
        "parses": True,
        "edit": Edit("k"),
        "changed_lines": 4,
        "regression_ran": True,
        "regression_passed": 156,
        "reproductions": {"S1:tests/test_new.py": "pass"},
        "excluded": ("tests/test_old.py::test_wrong",),
    }
    return Evidence(candidate=name, **{**values, **other})


def make(text: str = "plain") -> Decision:
    """A decision in which `text` stands wherever a model or a repository can write."""
    agree = ("G1", "L1.1", "S1")
    names = (*agree, "G2", "L2.1")
    candidates = tuple(candidate(n, text, "" if n == "L2.1" else "diff") for n in names)
    seen = {name: evidence(name, note=text) for name in agree}
    seen["G2"] = evidence("G2", lost=(f"tests/t.py::{text}",), reproductions={})
    return Decision(
        outcome="patch",
        patch=combine("", {"src/calc.py": "x = 1\n", "tests/test_new.py": text}),
        candidates=candidates,
        evidence=seen,
        ballot=Ballot(
            clusters=(
                Cluster("A", agree, 3, agree),
                Cluster("B", ("G2",), 1, ()),
                Cluster("C", ("L2.1",), 1, ()),
            ),
            gates=(
                *(Gate(name, ()) for name in agree),
                Gate("G2", (f"It breaks a test that passed before, first {text}.",)),
                Gate("L2.1", ("It was not verified.",)),
            ),
            winner="S1",
            rule="3 of 5 candidates made the winning change.",
        ),
        reproductions=(
            Reproduced(
                "S1:tests/test_new.py",
                Reproduction("tests/test_new.py", text, "S1"),
                (f"tests/test_new.py::test_{text}",),
            ),
        ),
        exclusions=(Exclusion("tests/test_old.py::test_wrong", text, text),),
        isolation="container",
        environment="detected: pip, 41 s",
        baseline="157 tests pass, 0 fail before any change (`pytest -q`, 148 s)",
        notes=(text,),
        not_run=(text,),
        contest=Contest((ContestVote("S1", "high", text), ContestVote("", "low", text))),
        untested=text if text == EVIL else "",
        pin=text if text == EVIL else "",
    )


@pytest.fixture
def decision() -> Decision:
    """A decision with harmless texts."""
    return make()


@pytest.fixture
def evil_decision() -> Decision:
    """The same with hostile text in every field a model or repository fills."""
    return make(EVIL)


@pytest.fixture
def facts() -> RunFacts:
    """A run that a maintainer asked for."""
    return RunFacts(
        run_id="r-0123456789abcdef",
        repository="acme/widgets",
        issue_number=7,
        requested_by="maintainer",
        base_branch="trunk",
        base_commit="1a2b3c4d" * 5,
        budget_usd=5.0,
        models=("claude-sonnet-4-6",),
        snapshot_sha256="f" * 64,
    )


@pytest.fixture
def removal() -> Removal:
    """Hidden text with a hostile sample."""
    return Removal("HTML comment", 2, EVIL)


@pytest.fixture
def usage() -> Usage:
    """What a run cost."""
    return Usage(90, 400_000, 352_000, 12_000, 1.84)
