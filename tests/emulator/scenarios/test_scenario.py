"""The data of the scenarios is complete and says what it means to say."""

from itertools import combinations

import pytest
import yaml

from emulator.scenarios.scenario import ROOT, Scenario, load, names
from pipeline.explore.contrast import NEAR_DUPLICATE, jaccard

RUN = ("G1", "L1.1", "L1.2", "G2", "L2.1", "L2.2", "G3", "L3.1", "L3.2", "S1", "S2", "S3")
NESTED = {
    "context": {"path", "symbol", "start", "end", "why"},
    "changes": {"path", "symbol", "what", "reason", "sources"},
}


def words(text: str) -> frozenset[object]:
    return frozenset(text.lower().split())


def test_the_four_scenarios_are_found() -> None:
    """Every folder with data is listed, sorted."""
    assert names() == ("attrs", "packaging", "sqlparse", "tenacity")


def test_an_unknown_scenario_is_told_the_known_ones() -> None:
    """Asking for what does not exist names what does."""
    with pytest.raises(KeyError, match="attrs, packaging, sqlparse, tenacity"):
        load("numpy")


def test_twelve_candidates_in_run_order(scenario: Scenario) -> None:
    """A run has the paper's counts, 3 + 6 + 3."""
    assert tuple(each.id for each in scenario.candidates) == RUN


def test_summaries_make_titles(scenario: Scenario) -> None:
    """A winner's summary is the pull request's title: one line that nothing has to cut."""
    assert all(0 < len(each.summary) <= 68 for each in scenario.candidates)


def test_every_data_file_is_used(scenario: Scenario) -> None:
    """No patch and no reproduction lies about that no candidate has."""
    folder = ROOT / scenario.name
    patches = {each.patch for each in scenario.candidates}
    tests = {each.reproduction[1] for each in scenario.candidates if each.reproduction}
    assert {path.read_text() for path in folder.glob("patches/*")} == patches
    assert {path.read_text() for path in folder.glob("reproductions/*")} == tests


def test_nested_fields_are_spelled_right(scenario: Scenario) -> None:
    """Places and changes have known fields only; a misspelt one would be dropped in silence."""
    data = yaml.safe_load((ROOT / scenario.name / "scenario.yaml").read_text())
    for entry in data["candidates"]:
        for field, known in NESTED.items():
            for item in entry[field]:
                assert item.keys() <= known, (entry["id"], field)


def test_reproductions_are_test_files_of_their_own(scenario: Scenario) -> None:
    """Coders write them where the project's runner finds them."""
    for each in scenario.candidates:
        if each.reproduction:
            assert each.reproduction[0].startswith("tests/test_")
            assert each.reproduction[0].endswith(".py")


def test_syntheses_name_their_sources(scenario: Scenario) -> None:
    """Each change of an integrated plan comes from explored plans; the spine is among them."""
    explored = {each.id for each in scenario.candidates if not each.id.startswith("S")}
    for number in "123":
        plan = scenario.candidate(f"S{number}")
        assert all(change.sources for change in plan.changes)
        sources = {source for change in plan.changes for source in change.sources}
        assert sources <= explored
        assert f"G{number}" in sources


def test_strategies_of_a_family_differ(scenario: Scenario) -> None:
    """No two global plans, and no two plans of one branch, have nearly the same strategy text."""
    plans = {each.id: each for each in scenario.candidates}
    families = [("G1", "G2", "G3")] + [(f"G{k}", f"L{k}.1", f"L{k}.2") for k in (1, 2, 3)]
    for left, right in (pair for family in families for pair in combinations(family, 2)):
        overlap = jaccard(words(plans[left].strategy), words(plans[right].strategy))
        assert overlap < NEAR_DUPLICATE, (left, right)


def test_what_is_intended_covers_the_pool(scenario: Scenario) -> None:
    """Groups hold every candidate once; whoever may not win is in none of the winners."""
    intended = scenario.intended
    grouped = [name for group in intended.groups for name in group]
    assert sorted(grouped) == sorted(RUN)
    assert not set(intended.winners) & set(intended.rejected)
    assert set(intended.winners) in map(set, intended.groups)


def test_the_largest_group_is_wrong_where_prism_fix_is_shown() -> None:
    """In these three the vote alone would choose a wrong patch: evidence has to decide."""
    for name in ("attrs", "packaging", "sqlparse"):
        scenario = load(name)
        first, second = scenario.intended.groups[:2]
        assert len(first) > len(second)
        assert set(first) <= set(scenario.intended.rejected)
        assert set(second) == set(scenario.intended.winners)
