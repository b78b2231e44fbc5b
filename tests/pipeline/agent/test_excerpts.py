"""Reviewers see the code that plans talk about."""

from pathlib import Path

from pipeline.agent.excerpts import excerpts, places_of
from pipeline.values import Change, Location, Plan, Solution
from tests.fakes import LocalWorkspace

CODE = (
    "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
    + "x = 1\n" * 30
)


def test_places_come_once() -> None:
    """Context and changes of all plans, the same place named once."""
    solution = Solution("r", "e", "m", (Location("a.py", "A.f"),))
    plan = Plan("s", solution, (Change("a.py", "w", "A.f"), Change("b.py", "w")))
    assert [(p.path, p.symbol) for p in places_of([plan, plan])] == [("a.py", "A.f"), ("b.py", "")]


async def test_units_are_shown_and_the_rest_is_not(tmp_path: Path) -> None:
    """A symbol shows its unit, a line what is around it, a missing file that it is missing."""
    workspace = LocalWorkspace(tmp_path, {"a.py": CODE})
    places = [Location("a.py", "g"), Location("a.py", start=30, end=30), Location("new.py")]
    text = await excerpts(workspace, places)
    assert "return 2" in text
    assert "return 1" not in text
    assert "    20\tx = 1" in text
    assert "new.py: does not exist yet" in text


async def test_what_cannot_be_shown_is_named(tmp_path: Path) -> None:
    """A plan may name a picture or a path that leads out: the others are shown all the same."""
    workspace = LocalWorkspace(tmp_path, {"a.py": CODE})
    (tmp_path / "picture.jpg").write_bytes(b"\xff\xd8")
    places = [Location("picture.jpg"), Location("../out.py"), Location("a.py", "g")]
    text = await excerpts(workspace, places)
    assert "picture.jpg: picture.jpg is not UTF-8 text." in text
    assert "../out.py leads out of the workspace." in text
    assert "return 2" in text


async def test_too_much_code_is_cut_at_a_file(tmp_path: Path) -> None:
    """What does not fit is named."""
    workspace = LocalWorkspace(tmp_path, {"a.py": CODE, "b.py": CODE})
    text = await excerpts(workspace, [Location("a.py"), Location("b.py")], limit=900)
    assert "(b.py and what follows is left out" in text
