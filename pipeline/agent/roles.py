"""The agents: who they are (a prompt) and what they may do (tools over a workspace)."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.agent.tool import Tool
from pipeline.agent.tools import coder_tools, planner_tools
from pipeline.index.search import CodeSearch
from sandbox.base import Workspace


@dataclass(frozen=True, slots=True)
class AgentRole:
    """`prompt` is the file in pipeline/prompts whose system part the agent gets. `tools` takes
    the search of the base commit, None when no index could be built. `is_left_later` as in
    `pipeline.services.ModelRequest`."""

    name: str
    prompt: str
    tools: Callable[[Workspace, CodeSearch | None], tuple[Tool, ...]]
    is_left_later: bool = False


PLANNER = AgentRole("planner", "planner", planner_tools)
CODER = AgentRole("coder", "coder", coder_tools)
