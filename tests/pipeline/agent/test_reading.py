"""A search of a tree that is not readable everywhere."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.agent.reading import reading_tools
from pipeline.agent.tool import Observation
from sandbox.base import Command, ExecResult
from tests.fakes import LocalWorkspace

NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"


class Ordinary(LocalWorkspace):
    """Commands run as a user for whom modes count, also when the tests run as root."""

    tools = ""

    async def exec(self, command: Command) -> ExecResult:
        user = NOBODY if os.getuid() == 0 else ""
        path = f"PATH={self.tools}" if self.tools else ""
        line = f"{path} {user} /bin/bash <<'END_OF_LINE'\n{command.line}\nEND_OF_LINE"
        return await super().exec(replace(command, line=line))


@pytest.fixture(params=["as installed", "grep"])
def workspace(request: pytest.FixtureRequest) -> Iterator[Ordinary]:
    """A repository with a closed folder, searched by what is there and by grep."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        found = Ordinary(root / "w", {"a.py": "one\n", "shut/b.py": "two\n"})
        if request.param == "grep":
            tools = root / "tools"
            tools.mkdir()
            for tool in ("setpriv", "grep", "cut", "head"):
                source = next(p for p in ("/usr/bin", "/bin") if Path(p, tool).exists())
                (tools / tool).symlink_to(Path(source, tool))
            found.tools = str(tools)
        (root / "w/shut").chmod(0)
        yield found
        (root / "w/shut").chmod(0o755)


async def search(workspace: LocalWorkspace, **arguments: str) -> Observation:
    """One call of search_text."""
    (tool,) = (each for each in reading_tools(workspace) if each.spec.name == "search_text")
    return await tool.run(arguments)


async def test_a_closed_folder_is_a_remark(workspace: Ordinary) -> None:
    """Matches elsewhere are shown, no match is said, and both say what was left out."""
    found, none = await search(workspace, pattern="one"), await search(workspace, pattern="none")
    assert not found.is_error
    assert found.text.startswith("a.py:1:one\n(not everything could be searched: ")
    assert "shut" in found.text
    assert not none.is_error
    assert none.text.startswith("No match.\n(not everything could be searched: ")


async def test_a_bad_pattern_is_still_refused(workspace: Ordinary) -> None:
    """A search that could not start is an error."""
    seen = await search(workspace, pattern="(", path="a.py")
    assert seen.is_error
    assert "Check the pattern" in seen.text
