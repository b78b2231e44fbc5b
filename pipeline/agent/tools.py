"""The tools of each role, bound to one workspace. Make them anew for every run of an agent."""

from pipeline.agent.checkpoints import checkpoint_tools
from pipeline.agent.finishing import submit_plan_tool, submit_tool
from pipeline.agent.reading import reading_tools
from pipeline.agent.tool import Tool
from pipeline.agent.writing import writing_tools
from sandbox.base import Workspace


def planner_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """list, outline, view, search_text, submit_plan: nothing that edits or runs."""
    return (*reading_tools(workspace), submit_plan_tool(workspace))


def coder_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """list, outline, view, search_text, edit, shell, run_tests, checkpoint, go_back, submit."""
    return (
        *reading_tools(workspace),
        *writing_tools(workspace),
        *checkpoint_tools(workspace),
        submit_tool(workspace),
    )
