"""A coder can try a repair, keep it under a name, and come back; names are all it sees."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.agent.checkpoints import START, checkpoints, keep, last_note
from pipeline.agent.tool import Observation
from pipeline.agent.tools import coder_tools
from tests.fakes import LocalWorkspace


@pytest.fixture
async def workspace(tmp_path: Path) -> LocalWorkspace:
    """A small repository with the checkpoint every coder starts with."""
    workspace = LocalWorkspace(tmp_path / "w", {"a.py": "A = 1\n", "b.py": "B = 1\n"})
    await keep(workspace, START, "the untouched repository")
    return workspace


async def use(workspace: LocalWorkspace, tool: str, **arguments: Any) -> Observation:
    """One call of a coder's tool."""
    tools = {entry.spec.name: entry for entry in coder_tools(workspace)}
    return await tools[tool].run(arguments)


async def test_an_attempt_and_back(workspace: LocalWorkspace) -> None:
    """Going back restores every file and keeps what is left, so that nothing tried is lost."""
    await workspace.write("test_a.py", "import a\nassert a.A == 2\n")
    seen = await use(workspace, "checkpoint", name=" reproduction ", note="fails\nas it should")
    assert seen.text.endswith(
        "Checkpoints:\n- start: the untouched repository\n- reproduction: fails as it should"
    )
    await workspace.write("a.py", "A = 3\n")
    await workspace.write("c.py", "C = 1\n")
    seen = await use(workspace, "go_back", name="reproduction")
    assert not seen.is_error
    assert await workspace.read("a.py") == "A = 1\n"
    assert (await workspace.read("test_a.py")).startswith("import a")
    assert not (workspace.root / "c.py").exists()
    await use(workspace, "go_back", name="before going back")
    assert await workspace.read("a.py") == "A = 3\n"
    await use(workspace, "go_back", name="start")
    assert await workspace.diff() == ""


async def test_what_names_a_state_stays_hidden(workspace: LocalWorkspace) -> None:
    """No observation shows the object name of a snapshot."""
    texts = [
        (await use(workspace, "checkpoint", name="one", note="first")).text,
        (await use(workspace, "go_back", name="one")).text,
        (await use(workspace, "go_back")).text,
        (await use(workspace, "go_back", name="two")).text,
    ]
    assert not re.search(r"[0-9a-f]{40}", "".join(texts))
    assert "There is no such checkpoint.\nCheckpoints:\n- start" in texts[3]


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("checkpoint", {"name": "start", "note": ""}, "take another name"),
        ("checkpoint", {"name": "before going back", "note": ""}, "take another name"),
        ("checkpoint", {"name": " ", "note": ""}, "1 to 60 characters"),
        ("checkpoint", {"name": "n" * 61, "note": ""}, "1 to 60 characters"),
        ("checkpoint", {"name": "x"}, "note: Field required"),
        ("go_back", {"name": "never"}, "There is no such checkpoint"),
    ],
)
async def test_mistakes(
    workspace: LocalWorkspace, tool: str, arguments: dict[str, str], part: str
) -> None:
    """A call that cannot be carried out says why and changes neither files nor checkpoints."""
    await workspace.write("a.py", "A = 5\n")
    seen = await use(workspace, tool, **arguments)
    assert (seen.is_error, part in seen.text) == (True, True)
    assert await workspace.read("a.py") == "A = 5\n"
    assert [each.name for each in checkpoints(workspace)] == ["start"]


async def test_number_and_notes_are_bounded(workspace: LocalWorkspace) -> None:
    """Twenty checkpoints of one's own, each with a cut note; a known name can be used again."""
    for number in range(20):
        seen = await use(workspace, "checkpoint", name=f"c{number}", note="\x01ä" * 5000)
        assert not seen.is_error
    assert len(checkpoints(workspace)[-1].note) == 400
    assert "use the name of one" in (await use(workspace, "checkpoint", name="x", note="")).text
    await use(workspace, "checkpoint", name="c0", note="again")
    assert checkpoints(workspace)[-1].note == last_note(workspace) == "again"
    await use(workspace, "go_back", name="c1")
    assert last_note(workspace) == "again"


async def test_the_tool_list_never_changes(workspace: LocalWorkspace, tmp_path: Path) -> None:
    """Checkpoints are in no description, so that the model's prefix cache goes on serving."""

    def listed(of: LocalWorkspace) -> str:
        specs = [tool.spec for tool in coder_tools(of)]
        return json.dumps([[each.name, each.description, each.schema] for each in specs])

    before = listed(workspace)
    await use(workspace, "checkpoint", name="one", note="first")
    assert listed(workspace) == before == listed(LocalWorkspace(tmp_path / "other", {"x": ""}))
