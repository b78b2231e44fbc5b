"""Which base tests the issue itself asks to change."""

from dataclasses import replace
from pathlib import Path

import pytest

from emulator.model.scripted import call
from pipeline.evidence.exclusions import (
    Excluded,
    edited_symbols,
    find_exclusions,
    limit,
    problem,
    related,
)
from pipeline.model.verdicts import ExclusionVerdict
from pipeline.values import Exclusion, Task
from tests.fakes import MemoryBudget, scripted_model
from tests.indexed import indexed
from tests.pipeline.evidence.small_repository import FILES, MakeSetting, candidate, make_patch
from tests.pipeline.evidence.test_near import Opened

QUOTE = "The total of an empty cart should be 0, not None."
TASK = Task(
    "1/shop",
    1,
    "Empty cart",
    "Hello.\n\nThe total of an\n empty cart should be 0,\nnot None.",
    "0" * 40,
)
NOTHING = "tests/test_shop.py::Shop::test_nothing"
OTHER = "tests/test_shop.py::Shop::test_total"
FIX = make_patch(FILES, {"shop.py": FILES["shop.py"].replace("else None", "else 0")})


def verdict(*tests: str, quote: str = QUOTE) -> ExclusionVerdict:
    """An answer that excludes `tests`."""
    return ExclusionVerdict(tuple(Exclusion(test, quote, "asserts None") for test in tests))


@pytest.mark.parametrize(("tests", "most"), [(0, 0), (1, 1), (3, 1), (10, 1), (11, 2), (157, 16)])
def test_a_tenth_rounded_up_may_be_excluded(tests: int, most: int) -> None:
    """Even the smallest suite may have one test that asserts the bug."""
    assert limit(tests) == most


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (verdict(), None),
        (verdict(NOTHING), None),
        (verdict(NOTHING, quote="  The total of an empty\ncart should be 0, "), None),
        (verdict("tests/test_shop.py::Shop::test_unknown"), "listed"),
        (verdict(""), "listed"),
        (verdict(NOTHING, quote="The total should be 0."), "word for word"),
        (verdict(NOTHING, quote=""), "word for word"),
        (verdict(NOTHING, quote="0"), "word for word"),
        (verdict(NOTHING, OTHER), "too many"),
    ],
)
def test_an_answer_is_checked(answer: ExclusionVerdict, word: str | None) -> None:
    """Tests must be known, quotes stand in the issue, and a tenth is the limit."""
    said = problem(answer, TASK, {NOTHING, OTHER, "t::a"})
    assert (said is None) if word is None else (word in (said or ""))


def test_a_name_stands_for_its_parameters_and_all_of_them_count() -> None:
    """`test_x` means every `test_x[…]`, which together must stay within the limit."""
    cases = {f"t.py::test_x[{n}]" for n in range(3)}
    rest = {f"t.py::test_{n}" for n in range(27)}
    assert problem(verdict("t.py::test_x"), TASK, cases | rest) is None
    assert "too many" in str(problem(verdict("t.py::test_x"), TASK, cases))


def test_a_test_whose_file_mentions_no_edited_symbol_stays() -> None:
    """Words have to match whole; a test without a file is never excluded."""
    files = {"a": "import shop\nshop.total([])\n", "b": "subtotal()\n"}
    asked = [Exclusion(name, "q", "r") for name in ("a", "b", "c")]
    assert [each.test for each in related(asked, files, {"total"})] == ["a"]
    assert related(asked, files, set()) == ()


async def test_edited_symbols_are_those_of_all_candidates(bench: MakeSetting) -> None:
    """Definitions in Python, headings elsewhere, and the module's own name."""
    files = {**FILES, "a.js": "function outer() {\n" + "  x();\n" * 9 + "}\n"}
    script = make_patch(files, {"a.js": files["a.js"].replace("x();\n}", "y();\n}")})
    script = script.replace("@@\n", "@@ function outer() {\n")
    pool = [candidate("G1", FIX), candidate("G2", script), candidate("S1", "no patch")]
    found = await edited_symbols(bench(files).source, pool)
    assert found == {"total", "shop", "outer", "a"}


async def test_the_agent_is_asked_once_and_never_sees_a_patch(bench: MakeSetting) -> None:
    """Ids, sources and issue go out; the checked answer is journalled and comes back."""
    setting, budget = bench(), MemoryBudget()
    environment = await setting.environment()
    answer = call(
        "answer", exclusions=[{"test": NOTHING, "quote": QUOTE, "reason": "asserts None"}]
    )
    pool = [candidate("G1", FIX)]
    async with scripted_model({"verify/exclusions/exclusions": [answer]}, budget) as model:
        for _ in range(2):
            found = await find_exclusions(setting.services(model), TASK, environment, pool)
            assert found == Excluded((Exclusion(NOTHING, QUOTE, "asserts None"),))
        unrelated = [candidate("G1", make_patch({}, {"other.txt": "x\n"}))]
        found = await find_exclusions(setting.services(model), TASK, environment, unrelated)
        assert found == Excluded(())
    assert [address for address, _ in budget.reserved] == ["verify/exclusions/exclusions"]


async def test_the_index_must_see_the_edit_in_the_test_file(
    bench: MakeSetting, tmp_path: Path
) -> None:
    """A word in a comment is no relation; where the index knows nothing, words decide."""
    text = "# total of an empty cart\ndef test_words():\n    assert not []\n"
    files = {**FILES, "tests/test_words.py": text}
    setting, pool = bench(files), [candidate("G1", FIX)]
    environment = await setting.environment()
    test = "tests/test_words.py::test_words"
    answer = call("answer", exclusions=[{"test": test, "quote": QUOTE, "reason": "r"}])
    async with scripted_model({"verify/exclusions/exclusions": [answer]}) as model:
        services = setting.services(model)
        found = await find_exclusions(services, TASK, environment, pool)
        assert [each.test for each in found.exclusions] == [test]
        with indexed(tmp_path, files) as index:
            services = replace(services, index=Opened(index))
            assert await find_exclusions(services, TASK, environment, pool) == Excluded(())


async def test_an_answer_that_stays_wrong_excludes_nothing(bench: MakeSetting) -> None:
    """Too many tests, twice repaired in vain: no test is excused, and it is said why."""
    setting = bench()
    environment = await setting.environment()
    entries = [{"test": t, "quote": QUOTE, "reason": "r"} for t in (NOTHING, OTHER)]
    turns = ("exclusions", "exclusions.fix1", "exclusions.fix2")
    script = {f"verify/exclusions/{turn}": [call("answer", exclusions=entries)] for turn in turns}
    async with scripted_model(script) as model:
        services = setting.services(model)
        found = await find_exclusions(services, TASK, environment, [candidate("G1", FIX)])
    assert found.exclusions == ()
    assert "2 tests are too many to leave out" in found.note


async def test_without_a_suite_nobody_is_asked(bench: MakeSetting) -> None:
    """No base test, no question."""
    setting = bench({"shop.py": FILES["shop.py"]})
    environment = await setting.environment()
    assert await find_exclusions(setting.services(), TASK, environment, []) == Excluded(())
