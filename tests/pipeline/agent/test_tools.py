"""Tools do what they say in a real folder, and answer mistakes with what to do."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.agent.finishing import diff_stat
from pipeline.agent.reading import ListArguments
from pipeline.agent.tool import Observation, ToolProblem, inside, make_tool
from pipeline.agent.tools import coder_tools, planner_tools
from pipeline.agent.writing import occurrences, summary
from sandbox.base import TestRun
from sandbox.errors import (
    EngineUnavailable,
    FileNotFound,
    NotAllowed,
    SandboxError,
    WorkspaceLost,
)
from tests.fakes import LocalWorkspace

FILES = {
    "pkg/a.py": "def f(x):\n    return x\n\n\nclass C:\n    def g(self):\n        return f(1)\n",
    "pkg/b.txt": "def f in a text\n" + "line\n" * 500,
    "-odd name.py": "odd = 1\n",
    "empty.py": "",
}


@pytest.fixture
def workspace(tmp_path: Path) -> LocalWorkspace:
    """A small repository."""
    return LocalWorkspace(tmp_path / "w", FILES)


async def use(workspace: LocalWorkspace, tool: str, **arguments: Any) -> Observation:
    """One call of a coder's tool."""
    tools = {entry.spec.name: entry for entry in coder_tools(workspace)}
    return await tools[tool].run(arguments)


def test_roles_have_their_tools(workspace: LocalWorkspace) -> None:
    """Planners can only look and hand in."""
    assert [tool.spec.name for tool in planner_tools(workspace)] == [
        "list",
        "outline",
        "view",
        "search_text",
        "submit_plan",
    ]
    coder = [tool.spec.name for tool in coder_tools(workspace)]
    assert coder[4:] == ["edit", "shell", "run_tests", "checkpoint", "go_back", "submit"]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("list", {}, "-odd name.py\nempty.py\npkg/\npkg/a.py\npkg/b.txt"),
        ("list", {"path": "pkg", "depth": 1}, "pkg/a.py\npkg/b.txt"),
        (
            "outline",
            {"path": "pkg/a.py"},
            "1–2\tf\tdef f(x):\n5–7\tC\tclass C:\n6–7\tC.g\tdef g(self):",
        ),
        (
            "view",
            {"path": "pkg/a.py", "start": 2, "end": 2},
            "     2\t    return x\n(lines 2–2 of 7)",
        ),
        ("view", {"path": "empty.py"}, "The file is empty."),
        ("search_text", {"pattern": "def f\\("}, "pkg/a.py:1:def f(x):"),
        ("search_text", {"pattern": "f\\(", "glob": "*.txt"}, "No match."),
        ("search_text", {"pattern": "odd", "path": "-odd name.py"}, "-odd name.py:1:odd = 1"),
        ("shell", {"command": "echo hi; exit 3"}, "(exit code 3)\nhi"),
        ("run_tests", {"targets": ["pkg/a.py"]}, "0 failed, 1 passed, 0 skipped\nPASS pkg/a.py"),
    ],
)
async def test_a_call_answers(
    tool: str, arguments: dict[str, Any], expected: str, workspace: LocalWorkspace
) -> None:
    """Each tool's answer, exactly."""
    seen = await use(workspace, tool, **arguments)
    assert (seen.text, seen.is_error) == (expected, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("view", {}, "path: Field required. Call `view` again"),
        ("view", {"path": "a.py", "lines": 3}, "Unknown field: lines."),
        ("view", {"path": "nope.py"}, "There is no file nope.py"),
        ("view", {"path": "../../etc/passwd"}, "outside the repository"),
        ("view", {"path": "/etc/passwd"}, "outside the repository"),
        ("view", {"path": "pkg/a.py", "start": 90}, "The file has 7 lines"),
        ("list", {"path": "nope"}, "cannot be listed"),
        ("search_text", {"pattern": "("}, "The search failed"),
        ("search_text", {"pattern": ""}, "The pattern is empty"),
        ("edit", {"path": "pkg/a.py", "old": "zzz", "new": ""}, "does not occur"),
        ("edit", {"path": "pkg/b.txt", "old": "line\n", "new": ""}, "occurs 500 times"),
        ("edit", {"path": "pkg/a.py", "new": "x", "create": True}, "pkg/a.py exists"),
        ("edit", {"path": "pkg/z.py", "old": "a", "new": "x"}, "There is no file pkg/z.py"),
        ("edit", {"path": ".git/config", "old": "a", "new": "x"}, "not part of the repository"),
        ("submit", {"summary": "s", "status": "great"}, "Input should be 'fixed'"),
        ("submit", {"summary": "s", "status": "fixed", "tests": ["t.py"]}, "do not exist: t.py"),
    ],
)
async def test_a_mistake_is_answered(
    tool: str, arguments: dict[str, Any], part: str, workspace: LocalWorkspace
) -> None:
    """An error comes back as an observation that names it, and nothing changes."""
    seen = await use(workspace, tool, **arguments)
    assert seen.is_error
    assert part in seen.text
    assert seen.output is None
    assert await workspace.diff() == ""


@pytest.mark.parametrize("arguments", [{"new": "\ud800"}, {"new": "a", "path": "\udfff.py"}])
async def test_text_that_is_none(arguments: dict[str, Any], workspace: LocalWorkspace) -> None:
    """Half a surrogate pair in a call is answered, not raised."""
    seen = await use(workspace, "edit", **{"path": "new.py", "create": True, **arguments})
    assert seen.is_error
    assert "no Unicode" in seen.text


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (SandboxError("odd"), False),
        (NotAllowed("odd"), False),
        (FileNotFound("odd"), False),
        (WorkspaceLost("odd"), True),
        (EngineUnavailable("odd"), True),
    ],
)
async def test_what_the_sandbox_raises(error: SandboxError, raised: bool) -> None:
    """A tool answers what is the call's fault and raises what no other call could survive."""

    async def fail(arguments: ListArguments) -> str:
        raise error

    tool = make_tool("list", "List.", ListArguments, fail)
    if raised:
        with pytest.raises(type(error)):
            await tool.run({})
    else:
        assert await tool.run({}) == Observation("odd", is_error=True)


async def test_an_edit_replaces_the_one_passage(workspace: LocalWorkspace) -> None:
    """The file holds the new text, and whether it parses is said."""
    good = await use(workspace, "edit", path="pkg/a.py", old="return x\n", new="return x + 1\n")
    bad = await use(workspace, "edit", path="pkg/a.py", old="def f(x):", new="def f(x:")
    assert good.text == "pkg/a.py changed. It parses."
    assert "does NOT parse" in bad.text
    assert await workspace.read("pkg/a.py") == FILES["pkg/a.py"].replace(
        "return x\n", "return x + 1\n"
    ).replace("def f(x):", "def f(x:")


async def test_shell_ends_at_its_limit(workspace: LocalWorkspace) -> None:
    """A command that hangs is ended and says so."""
    seen = await use(workspace, "shell", command="sleep 30", timeout=1)
    assert seen.text.startswith("(ended after 1 s: the time limit)")


async def test_submit_asks_once_and_then_ends(workspace: LocalWorkspace) -> None:
    """The first submit shows the change so far, the second hands in."""
    tools = {tool.spec.name: tool for tool in coder_tools(workspace)}
    await tools["edit"].run({"path": "t.py", "new": "a\nb\n", "create": True})
    work = {"summary": "s", "status": "fixed", "tests": ["./t.py"]}
    first, second = await tools["submit"].run(work), await tools["submit"].run(work)
    assert first.output is None
    assert "t.py  +2 −0" in first.text
    assert second.output == {"summary": "s", "status": "fixed", "tests": ["t.py"]}


@pytest.mark.parametrize(
    ("path", "text", "tests", "told"),
    [
        (".github/workflows/x.yml", "on: push\n", [], "refused as a whole while this is so"),
        ("pkg/b.py", "import socket\ns = socket.socket()\n", [], "A person has to look at this"),
        ("pkg/b.py", "x = 1\n", [], ""),
        ("pkg/b.py", "x = np.zeros(1)\n", [], "Nothing defines these names"),
        ("pkg/b.py", "import numpy as np\nx = np.zeros(1)\n", [], ""),
        ("test_b.py", "x = np\n", ["test_b.py"], ""),
        ("test_b.py", "import socket\ns = socket.socket()\n", ["test_b.py"], ""),
    ],
)
async def test_submit_tells_once_what_the_policy_finds(
    path: str, text: str, tests: list[str], told: str, workspace: LocalWorkspace
) -> None:
    """There is a turn to mend it; a reproduction is a file of its own and no part of the patch."""
    tools = {tool.spec.name: tool for tool in coder_tools(workspace)}
    await workspace.write(path, text)
    work = {"summary": "s", "status": "fixed", "tests": tests}
    first = (await tools["submit"].run(work)).text
    assert (f"\n- {path}: " in first) is bool(told)
    assert told in first
    second = await tools["submit"].run(work)
    assert (second.text, second.output["tests"]) == ("Submitted.", tests)


async def test_submit_with_an_empty_change_has_no_findings(workspace: LocalWorkspace) -> None:
    """That nothing is changed is said already."""
    tools = {tool.spec.name: tool for tool in coder_tools(workspace)}
    seen = await tools["submit"].run({"summary": "s", "status": "not_fixed"})
    assert "(nothing is changed)\n\nCheck once more" in seen.text


async def test_a_plan_needs_places_that_exist(workspace: LocalWorkspace) -> None:
    """A plan about a file that is not there is sent back."""
    tool = planner_tools(workspace)[-1]
    plan = {
        "summary": "s",
        "root_cause": "r",
        "expected_behaviour": "e",
        "strategy": "m",
        "context": [{"path": "pkg/none.py"}],
        "changes": [{"path": "pkg/new.py", "what": "add it"}],
    }
    assert "do not exist: pkg/none.py" in (await tool.run(plan)).text
    assert (await tool.run({**plan, "changes": []})).is_error
    assert (await tool.run({**plan, "context": [{"path": "pkg/a.py"}]})).output is not None


async def test_a_long_listing_lowers_its_depth(tmp_path: Path) -> None:
    """Over 300 entries the depth goes down, and the model is told."""
    files = {f"d{n // 50}/f{n}.py": "" for n in range(400)}
    seen = await use(LocalWorkspace(tmp_path / "w", files), "list")
    assert seen.text.startswith("d0/\nd1/")
    assert "depth lowered to 1" in seen.text


async def test_a_long_file_is_cut(workspace: LocalWorkspace) -> None:
    """400 lines at most, and the length of the whole is said."""
    seen = await use(workspace, "view", path="pkg/b.txt")
    assert seen.text.endswith("(lines 1–400 of 501)")


@pytest.mark.parametrize("path", ["a/../..", "/", "..", "a\nb", ".git", "./.git/x", "/w2/a"])
def test_paths_stay_inside(path: str) -> None:
    """What leads out of the repository or into git's own folder is refused."""
    with pytest.raises(ToolProblem):
        inside("/w", path)


@pytest.mark.parametrize(("path", "expected"), [("/w/a.py", "a.py"), ("./a//b", "a/b"), ("", ".")])
def test_paths_are_made_relative(path: str, expected: str) -> None:
    """Absolute paths of the workspace and untidy ones are understood."""
    assert inside("/w", path) == expected


@given(st.text("ab", max_size=12), st.text("ab", min_size=1, max_size=3))
def test_occurrences_count_overlapping_ones(text: str, part: str) -> None:
    """Every position where the part stands counts."""
    assert occurrences(text, part) == sum(text.startswith(part, n) for n in range(len(text)))


def test_failures_come_first() -> None:
    """A summary starts with the counts and names what failed before its output."""
    run = TestRun({"b": "pass", "a": "fail", "c": "skip"}, 1, 1.0, False, True, "boom")
    assert summary(run) == "1 failed, 1 passed, 1 skipped\nFAIL a\nboom"


@pytest.mark.parametrize(("timed_out", "words"), [(True, "ran out of time"), (False, "no result")])
def test_no_result_is_said(timed_out: bool, words: str) -> None:
    """A run without a verdict is never shown as a pass."""
    assert words in summary(TestRun({}, None, 1.0, timed_out, False, ""))


def test_diff_stat_counts_lines_that_look_like_headers() -> None:
    """Removed lines that start with dashes count as lines."""
    patch = (
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- odd\n-b\n+c\n"
    )
    assert diff_stat(patch) == ("x  +1 −2",)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 2_000_000,
        "\n".join("y" * 5_000 for _ in range(1_000)),
        "".join(f"def {'n' * 1_500}{number}(): pass\n" for number in range(2_000)),
    ],
)
async def test_no_file_fills_a_context(tmp_path: Path, text: str) -> None:
    """One long line, many long lines, many long names: every answer has a bound and says so."""
    tools = {
        tool.spec.name: tool
        for tool in planner_tools(LocalWorkspace(tmp_path, {"a.py": text}), None)
    }
    for name in ("view", "outline"):
        seen = await tools[name].run({"path": "a.py"})
        assert len(seen.text) < 70_000, name
        cut = ("(cut,", "(lines 1–", "more definitions", "No definitions")
        assert any(note in seen.text for note in cut), name


@given(st.text(st.characters(), max_size=30))
async def test_whatever_a_tool_says_can_be_sent(text: str) -> None:
    """Names that are not UTF-8 come as lone surrogates, which no message can hold."""

    async def say(_: ListArguments) -> str:
        return text

    async def fail(_: ListArguments) -> str:
        raise ToolProblem(text)

    for work in (say, fail):
        seen = await make_tool("say", "Say.", ListArguments, work).run({})
        assert seen.text.encode() is not None  # raises for half a surrogate pair
        assert seen.text == text or any("\ud800" <= char <= "\udfff" for char in text)
