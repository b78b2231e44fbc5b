"""The tools of each role, bound to one workspace. Make them anew for every run of an agent.

With the index of the base commit, planners read and search that; without one (it could not be
built) everybody has the workspace's own tools. The list of a role is the same throughout a run.
"""

from pipeline.agent.browsing import browsing_tools
from pipeline.agent.checkpoints import checkpoint_tools
from pipeline.agent.finishing import submit_plan_tool, submit_tool
from pipeline.agent.reading import reading_tools, search_text_tool
from pipeline.agent.searching import Shown, locating_tools, search_tools
from pipeline.agent.tool import Tool
from pipeline.agent.writing import writing_tools
from pipeline.index.search import CodeSearch
from sandbox.base import Workspace


def planner_tools(workspace: Workspace, code: CodeSearch | None = None) -> tuple[Tool, ...]:
    """list, outline, view, search_text and the searches, submit_plan: nothing edits or runs."""
    if code is None:
        return (*reading_tools(workspace), submit_plan_tool(workspace))
    shown = Shown()
    return (
        *browsing_tools(code, workspace.path),
        search_text_tool(workspace),
        *search_tools(code, shown),
        *locating_tools(code, shown),
        submit_plan_tool(workspace),
    )


def coder_tools(workspace: Workspace, code: CodeSearch | None = None) -> tuple[Tool, ...]:
    """list, outline, view, search_text of the coder's own files, edit, shell, run_tests,
    checkpoint, go_back, submit; searches show the base commit."""
    return (
        *reading_tools(workspace),
        *(search_tools(code, Shown(), "Shows the base commit, not your edits.") if code else ()),
        *writing_tools(workspace),
        *checkpoint_tools(workspace),
        submit_tool(workspace),
    )
