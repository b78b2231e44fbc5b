"""The tools over the index: the same view of the base commit, searches, and plain mistakes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.agent.search_text import MAX_CHARACTERS
from pipeline.agent.searching import MAX_FINISHED, Shown, search_tools
from pipeline.agent.tool import Observation, Tool
from pipeline.agent.tools import coder_tools, planner_tools
from pipeline.explore.locate import code_search, likely_places
from pipeline.explore.state import NO_PLACES
from pipeline.index.build import build
from pipeline.index.graph import build_graph
from pipeline.index.quoting import quoted
from pipeline.index.search import CodeSearch
from pipeline.index.store import Index, open_index
from pipeline.services import Services
from pipeline.values import Task
from tests.fakes import LocalWorkspace
from tests.indexed import indexed, objects_of

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": (
        "from pkg.b import helper\n\n\nclass C:\n    def run(self):\n        return helper(1)\n"
    ),
    "pkg/b.py": "def helper(x):\n    return x\n",
    "pkg/deep/er/still/c.txt": "some text\n" * 500,
    "pkg/empty.py": "",
    "tests/test_a.py": "from pkg.a import C\n\n\ndef test_run():\n    assert C().run() == 1\n",
    "-odd name.py": "odd = 1\n",
}
SEARCHES = ["find_code_def", "find_code_content", "find_child_unit", "neighbours"]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> LocalWorkspace:
    """A small repository, read by all tests and changed by none."""
    return LocalWorkspace(tmp_path_factory.mktemp("w") / "w", FILES)


@pytest.fixture(scope="module")
def code(
    workspace: LocalWorkspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CodeSearch]:
    """The search of its only commit."""
    store = tmp_path_factory.mktemp("store") / "store.sqlite"
    with objects_of(workspace.root) as objects:
        build(objects, "HEAD", store, workers=1)
        with open_index(store, "HEAD", objects) as index:
            yield CodeSearch(index, build_graph(index))


async def use(tools: tuple[Tool, ...], tool: str, **arguments: Any) -> Observation:
    """One call."""
    return await {entry.spec.name: entry for entry in tools}[tool].run(arguments)


def test_roles_have_their_searches(workspace: LocalWorkspace, code: CodeSearch) -> None:
    """Always the same list in the same words: it is the beginning of every prompt."""
    planner = planner_tools(workspace, code)
    assert [tool.spec.name for tool in planner] == [
        *("list", "outline", "view", "search_text"),
        *SEARCHES,
        *("find_file", "preview", "finish_search", "submit_plan"),
    ]
    coder = coder_tools(workspace, code)
    assert [tool.spec.name for tool in coder] == [
        *("list", "outline", "view", "search_text"),
        *SEARCHES,
        *("edit", "shell", "run_tests", "checkpoint", "go_back", "submit"),
    ]
    assert [tool.spec for tool in planner_tools(workspace, code)] == [t.spec for t in planner]
    remarks = {tool.spec.name for tool in coder if "base commit" in tool.spec.description}
    assert remarks == set(SEARCHES)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list", {}),
        ("list", {"path": "pkg", "depth": 1}),
        ("list", {"path": "pkg/deep", "depth": 9}),
        ("list", {"path": "pkg/", "depth": 0}),
        ("outline", {"path": "pkg/a.py"}),
        ("outline", {"path": "pkg/deep/er/still/c.txt"}),
        ("view", {"path": "pkg/a.py", "start": 2, "end": 5}),
        ("view", {"path": "pkg/deep/er/still/c.txt"}),
        ("view", {"path": "pkg/empty.py"}),
        ("view", {"path": "./-odd name.py"}),
        ("view", {"path": "pkg/a.py", "start": 90}),
        ("view", {"path": "../etc/passwd"}),
        ("view", {"path": ".git/config"}),
    ],
)
async def test_the_base_commit_looks_the_same(
    tool: str, arguments: dict[str, Any], workspace: LocalWorkspace, code: CodeSearch
) -> None:
    """Planners read from the index what they would read in an untouched workspace."""
    indexed = await use(planner_tools(workspace, code), tool, **arguments)
    assert indexed == await use(planner_tools(workspace), tool, **arguments)
    if "path" in arguments and not arguments["path"].startswith("."):
        absolute = {**arguments, "path": f"{workspace.path}/{arguments['path']}"}
        assert await use(planner_tools(workspace, code), tool, **absolute) == indexed


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        (
            "find_code_def",
            {"definition_name": "C.run"},
            "function pkg/a.py:C.run (lines 5–6)\n     5\t    def run(self):\n"
            "     6\t        return helper(1)\nchildren: pkg/b.py:helper",
        ),
        (
            "find_code_def",
            {"definition_name": "helpre"},
            "function pkg/b.py:helper (lines 1–2; alike 0.68)\n     1\tdef helper(x):",
        ),
        (
            "find_code_def",
            {"definition_name": "test_run"},
            "No definition is called 'test_run' or anything like it.\n"
            "(1 in test code left out; tests=true shows them)",
        ),
        (
            "find_code_content",
            {"content": "return  helper( 1)", "file_path": "pkg"},
            "No source file holds it. `search_text` takes a part or a regular expression.",
        ),
        (
            "find_code_content",
            {"content": "return  helper(1)"},
            "function pkg/a.py:C.run (lines 5–6)\n     5\t    def run(self):\n"
            "     6\t        return helper(1)\nchildren: pkg/b.py:helper",
        ),
        (
            "find_child_unit",
            {"definition_name": "helper", "file_path": "pkg/b.py"},
            "function pkg/b.py:helper (lines 1–2)\n     1\tdef helper(x):",
        ),
        (
            "neighbours",
            {"unit": "pkg/b.py:helper", "kinds": ["invokes"], "direction": "in"},
            "pkg/a.py:C.run invokes pkg/b.py:helper line 6",
        ),
        (
            "find_file",
            {"file_name": "a.py"},
            "pkg/a.py (python, 6 lines)\n4–6\tclass C:\n  5–6\tdef run(self):",
        ),
        (
            "find_file",
            {"file_name": "nope*"},
            "No file is called 'nope*'. Try a glob such as *part*, or `list` a folder.",
        ),
        (
            "preview",
            {"unit": "pkg/b.py:helper"},
            "function pkg/b.py:helper (lines 1–2)\n     1\tdef helper(x):",
        ),
    ],
)
async def test_a_search_answers(
    tool: str,
    arguments: dict[str, Any],
    expected: str,
    workspace: LocalWorkspace,
    code: CodeSearch,
) -> None:
    """Each tool's answer, exactly."""
    seen = await use(planner_tools(workspace, code), tool, **arguments)
    assert (seen.text, seen.is_error) == (expected, False)


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("find_child_unit", {"definition_name": "helpr", "file_path": "pkg/b.py"}, "helper?"),
        ("find_child_unit", {"definition_name": "f", "file_path": "b.txt"}, "Use find_file"),
        ("neighbours", {"unit": "nope.py:f"}, "There is no file"),
        ("neighbours", {"unit": "pkg/b.py", "kinds": ["calls"]}, "Input should be"),
        ("preview", {"unit": ""}, "There is no file ''"),
        ("find_code_content", {"content": "  "}, "The content is empty"),
        ("finish_search", {}, "No unit was found yet; search first"),
        ("finish_search", {"units": ["pkg/b.py:nope"]}, "defines no 'nope'"),
        ("view", {"path": "pkg/z.py"}, "There is no file 'pkg/z.py'"),
        ("list", {"path": "pkg/a.py"}, "it is a file"),
        ("list", {"path": "lib"}, "there is no such folder"),
    ],
)
async def test_a_mistake_says_what_to_do(
    tool: str, arguments: dict[str, Any], part: str, workspace: LocalWorkspace, code: CodeSearch
) -> None:
    """What cannot be found comes back as an observation, never as an exception."""
    seen = await use(planner_tools(workspace, code), tool, **arguments)
    assert seen.is_error
    assert part in seen.text


async def test_a_finished_search_reads_what_was_shown_last(
    workspace: LocalWorkspace, code: CodeSearch
) -> None:
    """Without names the units shown, the last mentioned first, with their full code."""
    tools = planner_tools(workspace, code)
    await use(tools, "find_code_def", definition_name="helper")
    await use(tools, "preview", unit="pkg/a.py:C")
    seen = await use(tools, "finish_search")
    first, second = seen.text.split("\n\n")
    assert first.startswith("class pkg/a.py:C (lines 4–6)\n     4\tclass C:\n     5\t")
    assert (
        second
        == "function pkg/b.py:helper (lines 1–2)\n     1\tdef helper(x):\n     2\t    return x"
    )
    named = await use(tools, "finish_search", units=["pkg/b.py:helper"])
    assert named.text == second


async def test_a_long_file_does_not_fill_the_conversation(tmp_path: Path) -> None:
    """A whole file at the end of a search is cut, the short unit beside it is not."""
    long = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(3000))
    files = {"long.py": long, "short.py": "def g():\n    return 1\n"}
    with indexed(tmp_path, files) as index:
        tools = planner_tools(LocalWorkspace(tmp_path / "w", {}), CodeSearch(index))
        seen = await use(tools, "finish_search", units=["long.py", "short.py:g"])
    assert "more lines)" in seen.text
    assert "return 1\n" in seen.text
    assert MAX_FINISHED / 2 < len(seen.text) < MAX_FINISHED * 1.2


async def test_a_coder_reads_its_own_edits(tmp_path: Path, code: CodeSearch) -> None:
    """view, outline and search_text follow the workspace; searches stay with the base commit."""
    tools = coder_tools(LocalWorkspace(tmp_path / "w", FILES), code)
    await use(tools, "edit", path="pkg/b.py", old="helper", new="assistant")
    for tool, arguments in (
        ("view", {"path": "pkg/b.py"}),
        ("outline", {"path": "pkg/b.py"}),
        ("search_text", {"pattern": "assistant"}),
    ):
        assert "def assistant" in (await use(tools, tool, **arguments)).text
    found = await use(tools, "find_code_def", definition_name="helper")
    assert "def helper(x):" in found.text


async def test_an_index_that_fails_is_a_remark(tmp_path: Path) -> None:
    """A repository that loses its objects after indexing: the agent goes on with other tools."""
    workspace = LocalWorkspace(tmp_path / "w", FILES)
    with objects_of(workspace.root) as objects:
        build(objects, "HEAD", tmp_path / "store.sqlite", workers=1)
        with open_index(tmp_path / "store.sqlite", "HEAD", objects) as index:
            for path in (workspace.root / ".git" / "objects").glob("??/*"):
                path.unlink()
            tools = search_tools(CodeSearch(index), Shown())
            seen = await use(tools, "find_code_def", definition_name="helper")
    assert seen.is_error
    assert "Use `search_text` instead." in seen.text


async def test_an_answer_is_bounded(tmp_path: Path) -> None:
    """Hundreds of long definitions of one name still give an answer that can be read."""
    body = "".join(f"    x = call_{'y' * 150}({n})\n" for n in range(60))
    files = {f"m{n}.py": f"def f({'a' * 3000}):\n{body}" for n in range(60)}
    workspace = LocalWorkspace(tmp_path / "w", files)
    with objects_of(workspace.root) as objects:
        build(objects, "HEAD", tmp_path / "store.sqlite", workers=1)
        with open_index(tmp_path / "store.sqlite", "HEAD", objects) as index:
            tools = planner_tools(workspace, CodeSearch(index))
            for tool, arguments in (
                ("find_code_def", {"definition_name": "f"}),
                ("find_code_content", {"content": "x"}),
                ("find_file", {"file_name": "*.py"}),
            ):
                seen = await use(tools, tool, **arguments)
                assert "more not shown" in seen.text
                assert len(seen.text) < MAX_CHARACTERS + 200


@pytest.mark.parametrize("asked", ["a" * 50_000, "x/" * 25_000, "_" * 50_000, "aB c " * 10_000])
async def test_a_long_question_is_not_repeated(
    asked: str, workspace: LocalWorkspace, code: CodeSearch
) -> None:
    """Every tool answers in short, whatever length of name it is asked for."""
    tools = planner_tools(workspace, code)
    coders = coder_tools(workspace, code)
    for used, tool, arguments in (
        (tools, "find_file", {"file_name": asked}),
        (tools, "find_code_def", {"definition_name": asked}),
        (tools, "find_code_content", {"content": asked, "file_path": "pkg/b.py"}),
        (tools, "find_child_unit", {"definition_name": asked, "file_path": "pkg/b.py"}),
        (tools, "find_child_unit", {"definition_name": "f", "file_path": asked}),
        (tools, "neighbours", {"unit": asked}),
        (tools, "preview", {"unit": asked}),
        (tools, "finish_search", {"units": [asked]}),
        *((tools, tool, {"path": asked}) for tool in ("list", "outline", "view")),
        *((coders, tool, {"path": asked}) for tool in ("list", "outline", "view")),
    ):
        seen = await use(used, tool, **arguments)
        assert len(seen.text) < 1_000, tool


class Known:
    """A CodeIndex that is there, or could not be built."""

    def __init__(self, index: Index | None) -> None:
        self._index = index

    async def opened(self) -> Index | None:
        """At once."""
        return self._index


async def test_planners_begin_with_likely_places(code: CodeSearch) -> None:
    """Files and functions that the issue speaks of; without an index the words say so."""
    task = Task("1/shop", 1, "helper returns its input", "`C.run` calls `helper(1)`.", "0" * 40)
    opened = await code_search(_services(Known(code.index)))
    assert opened is not None
    places = await likely_places(opened, task)
    assert places.startswith("<places>")
    assert "pkg/b.py:helper" in places
    assert await likely_places(opened, task) == places
    assert await code_search(_services(Known(None))) is None
    assert await code_search(_services(None)) is None
    assert await likely_places(None, task) == NO_PLACES


def _services(index: Known | None) -> Services:
    """Services of which only the index is used."""
    unused: Any = None
    return Services("run", *[unused] * 7, index=index)


ODD = ["esc\x1b[31m.py", "new\nline.py", "byte\udcff.py", "ri\u202eght.py", "back\\nslash.py"]


@pytest.mark.parametrize("name", ODD)
async def test_names_cannot_speak_to_the_model(name: str, tmp_path: Path) -> None:
    """Every tool quotes what cannot be seen, and understands what it showed."""
    body = "def first():\n    return second()\n\n\ndef second():\n    return 1\n"
    path = f"odd {name}"
    with indexed(tmp_path, {f"d/{path}": body, "plain.py": "x = 1\n"}) as index:
        searching = CodeSearch(index, build_graph(index))
        workspace = LocalWorkspace(tmp_path / "w", {})
        shown = quoted(f"d/{path}")
        tools = planner_tools(workspace, searching)
        asked: dict[str, dict[str, Any]] = {
            "list": {"path": "d"},
            "outline": {"path": shown},
            "view": {"path": shown},
            "find_file": {"file_name": shown},
            "find_code_def": {"definition_name": "first", "file_path": shown},
            "find_code_content": {"content": "second", "file_path": shown},
            "find_child_unit": {"definition_name": f"{shown}:first", "file_path": shown},
            "neighbours": {"unit": f"{shown}:first"},
            "preview": {"unit": f"{shown}:first"},
            "finish_search": {"units": [f"{shown}:first"]},
        }
        for tool, arguments in asked.items():
            answer = await use(tools, tool, **arguments)
            assert not answer.is_error, (tool, answer.text)
            assert answer.text.replace("\n", "").replace("\t", "").isprintable(), tool
            assert any(word in answer.text for word in (shown, "first")), tool
        refused = await use(tools, "find_child_unit", definition_name="none", file_path=shown)
        assert refused.is_error
        assert f"{shown} defines no" in refused.text
        places = await likely_places(searching, Task("o/r", 1, "first fails", "", index.commit))
        assert f"{shown}:first" in places
        assert places.replace("\n", "").isprintable()


async def test_a_file_that_no_parser_reads_has_no_lines(
    workspace: LocalWorkspace, code: CodeSearch
) -> None:
    """It is shown without a range that would be empty."""
    path = "pkg/deep/er/still/c.txt"
    answer = await use(
        planner_tools(workspace, code), "find_code_content", content="some text", file_path=path
    )
    assert answer.text.splitlines()[0] == f"file {path}"
