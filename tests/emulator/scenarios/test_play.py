"""A scenario turns into a script that answers at the addresses of a run."""

from pathlib import Path

from emulator.scenarios.play import script
from emulator.scenarios.repository import base_files
from emulator.scenarios.scenario import Scenario
from pipeline.agent.searching import Shown, locating_tools, search_tools
from pipeline.explore.references import References
from pipeline.index.build import build
from pipeline.index.graph import build_graph
from pipeline.index.search import CodeSearch
from pipeline.index.store import open_index
from tests.indexed import objects_of


def test_every_item_has_answers(scenario: Scenario, base: Path) -> None:
    """All twelve items are planned and coded, and the Test agent answers."""
    played = script(scenario, base_files(scenario, base))
    stages = {"G": "global", "L": "local", "S": "synthesis"}
    for each in scenario.candidates:
        first = "judge" if each.id.startswith("S") else "0"
        assert f"{stages[each.id[0]]}/{each.id}/{first}" in played
        assert f"code/{each.id}/0" in played
    assert "verify/exclusions/exclusions" in played


def test_edits_of_a_coder_make_its_patch(scenario: Scenario, base: Path) -> None:
    """Playing a coder's edits on the base files gives what its patch gives."""
    files = base_files(scenario, base)
    played = script(scenario, files)
    for each in scenario.candidates:
        texts = dict(files)
        for block in _edits(played, each.id):
            if "old" in block and block["path"] in texts:
                assert texts[block["path"]].count(block["old"]) == 1
                texts[block["path"]] = texts[block["path"]].replace(block["old"], block["new"])
        assert {path for path in files if texts[path] != files[path]} == {
            path for path in files if f"+++ b/{path}\n" in each.patch
        }
        added = [
            line[1:]
            for line in each.patch.splitlines()
            if line.startswith("+") and not line.startswith("+++")
        ]
        together = "".join(texts.values())
        assert all(line in together for line in added)


def _edits(played: dict[str, object], candidate: str) -> list[dict[str, str]]:
    found = []
    turn = 0
    while (entry := played.get(f"code/{candidate}/{turn}")) is not None:
        assert isinstance(entry, list)
        found += [block["input"] for block in entry if block.get("name") == "edit"]
        turn += 1
    return found


async def test_every_scripted_search_finds_something(
    scenario: Scenario, base: Path, tmp_path: Path
) -> None:
    """The ids, names and paths that planners and coders ask the code index for are in it."""
    played = script(scenario, base_files(scenario, base))
    turns = (turn for turn in played.values() if isinstance(turn, list))
    blocks = [block for turn in turns for block in turn if block.get("type") == "tool_use"]
    used = set()
    with objects_of(base) as objects:
        build(objects, "HEAD", tmp_path / "store.sqlite")
        with open_index(tmp_path / "store.sqlite", "HEAD", objects) as index:
            code = CodeSearch(index, build_graph(index))
            found = (*search_tools(code, Shown()), *locating_tools(code, Shown()))
            tools = {tool.spec.name: tool for tool in found}
            for block in blocks:
                if block["name"] in tools:
                    used.add(block["name"])
                    answer = await tools[block["name"]].run(block["input"])
                    assert not answer.is_error, (block, answer.text)
                    assert not answer.text.startswith("No "), (block, answer.text)
    assert used == set(tools)


def test_every_place_that_a_scripted_plan_names_is_there(scenario: Scenario, base: Path) -> None:
    """Planner and judge would be sent back for a path or a name that the base does not have."""
    files = {str(path.relative_to(base)): path for path in base.rglob("*") if path.is_file()}
    for candidate in scenario.candidates:
        paths = {each.path for each in (*candidate.changes, *candidate.context)} & set(files)
        planned = {each.path for each in candidate.changes}
        known = References(files, {path: files[path].read_text() for path in paths}, planned)
        assert known.problem(candidate.changes, candidate.context) is None, candidate.id
