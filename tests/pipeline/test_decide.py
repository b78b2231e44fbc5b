"""Which reproductions are published with the winner."""

from pipeline.decide import chosen_reproductions, published_patch
from pipeline.values import (
    Ballot,
    Candidate,
    CheckStatus,
    Evidence,
    Plan,
    PolicyVerdict,
    Reproduced,
    Reproduction,
    Solution,
)

PLAN = Plan("s", Solution("r", "e", "m", ()), ())
PATCH = (
    "diff --git a/a.py b/a.py\n"
    f"index {1:040x}..{2:040x} 100644\n"
    "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
)


def reproduced(author: str, path: str = "tests/test_issue.py") -> Reproduced:
    """A validated reproduction; its text is the author's."""
    text = f"# {author}\n"
    return Reproduced(f"{author}:{path}", Reproduction(path, text, author), ("t",))


def evidence(**seen: dict[str, CheckStatus]) -> dict[str, Evidence]:
    """Evidence that holds nothing but what each candidate did on the reproductions."""
    return {
        name: Evidence(name, PolicyVerdict(), True, True, reproductions=statuses)
        for name, statuses in seen.items()
    }


def test_the_winners_own_reproduction_is_enough() -> None:
    """A winner that brought a validated test publishes that one and no other."""
    both: dict[str, CheckStatus] = {"G1:a.py": "pass", "S1:b.py": "pass"}
    pool = (reproduced("G1", "a.py"), reproduced("S1", "b.py"))
    chosen = chosen_reproductions("S1", evidence(G1=both, S1=both), pool)
    assert [each.author for each in chosen] == ["S1"]


def test_without_an_own_one_few_tests_tell_every_loser() -> None:
    """One test that fails on both losers makes the two that fail on one of them superfluous."""
    pool = (reproduced("G1", "a.py"), reproduced("G2", "b.py"), reproduced("S1", "c.py"))
    seen = evidence(
        G1={"G1:a.py": "pass", "G2:b.py": "fail", "S1:c.py": "fail"},
        G2={"G1:a.py": "fail", "G2:b.py": "pass", "S1:c.py": "fail"},
        S1={"G1:a.py": "pass", "G2:b.py": "pass", "S1:c.py": "pass"},
        S2={"G1:a.py": "pass", "G2:b.py": "pass", "S1:c.py": "pass"},
    )
    assert [each.author for each in chosen_reproductions("S2", seen, pool)] == ["S1"]
    assert [each.author for each in chosen_reproductions("S2", seen, pool[:2])] == ["G1", "G2"]


def test_a_test_the_winner_fails_is_never_published() -> None:
    """Missing and failed results are no passes."""
    pool = (reproduced("G1", "a.py"), reproduced("G2", "b.py"))
    seen = evidence(S1={"G1:a.py": "missing", "G2:b.py": "fail"})
    assert chosen_reproductions("S1", seen, pool) == ()


def test_a_path_that_the_patch_has_gets_another_name() -> None:
    """Two files of one path cannot be committed; the reproduction gives way."""
    winner = Candidate("S1", "synthesis", (), PLAN, PATCH)
    pool = (reproduced("S1", "a.py"),)
    seen = evidence(S1={"S1:a.py": "pass"})
    patch = published_patch(Ballot((), (), "S1", ""), (winner,), seen, pool)
    assert "+++ b/a_s1.py" in patch


def test_without_a_winner_there_is_no_patch() -> None:
    """Abstaining publishes nothing."""
    assert published_patch(Ballot((), (), None, ""), (), {}, ()) == ""
