"""Tools to try a repair and come back: checkpoint and go_back, over snapshots and the memory.

Source: SWE-Adept's version-control tools and working memory (method.md §4.3): states have names
and notes, what names them inside stays hidden, and going back loses nothing.
"""

from dataclasses import dataclass

from pipeline.agent.tool import Tool, ToolProblem, make_tool
from sandbox.base import Workspace

START = "start"
BEFORE = "before going back"
MAX_CHECKPOINTS = 20
MAX_NAME = 60
MAX_NOTE = 400
_KEY = "checkpoints"


@dataclass(frozen=True, slots=True)
class CheckpointArguments:
    """Input of `checkpoint`."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class GoBackArguments:
    """Input of `go_back`; without a name nothing changes."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named state of the files; `note` is what its maker wrote about it."""

    name: str
    note: str
    snapshot: str


async def keep(workspace: Workspace, name: str, note: str) -> None:
    """Remember the files as they are under a name; the same name again replaces the state."""
    known = {each.name: each for each in checkpoints(workspace)}
    known.pop(name, None)  # to the end: listed in the order in which they were made
    known[name] = Checkpoint(name, note[:MAX_NOTE], await workspace.snapshot())
    workspace.memory.put(_KEY, [[each.name, each.note, each.snapshot] for each in known.values()])


def checkpoints(workspace: Workspace) -> tuple[Checkpoint, ...]:
    """The named states in the order they were made."""
    return tuple(Checkpoint(*row) for row in workspace.memory.get(_KEY) or ())


def last_note(workspace: Workspace) -> str:
    """What the agent wrote at its last checkpoint, "" when it made none."""
    own = [each for each in checkpoints(workspace) if each.name not in {START, BEFORE}]
    return own[-1].note if own else ""


def checkpoint_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """checkpoint and go_back over one workspace."""

    async def checkpoint(arguments: CheckpointArguments) -> str:
        name = _name(arguments.name)
        others = {each.name for each in checkpoints(workspace)} - {name, START, BEFORE}
        if name in {START, BEFORE}:
            raise ToolProblem(f"{name!r} is a checkpoint of its own; take another name.")
        if len(others) >= MAX_CHECKPOINTS:
            raise ToolProblem(
                f"There are {MAX_CHECKPOINTS} checkpoints; use the name of one you no longer need."
            )
        await keep(workspace, name, " ".join(arguments.note.split()))
        return f"Kept.\n{_listing(workspace)}"

    async def go_back(arguments: GoBackArguments) -> str:
        known = {each.name: each for each in checkpoints(workspace)}
        if not arguments.name.strip():
            return _listing(workspace)
        chosen = known.get(_name(arguments.name))
        if chosen is None:
            raise ToolProblem(f"There is no such checkpoint.\n{_listing(workspace)}")
        await keep(workspace, BEFORE, f"what was there when you went back to {chosen.name!r}")
        await workspace.restore(chosen.snapshot)
        return (
            f"All files are as they were at {chosen.name!r}. View a file again before you edit "
            f"it.\n{_listing(workspace)}"
        )

    return (
        make_tool(
            "checkpoint",
            "Keep the present state of all files under a short name, with a note of what was "
            "tried and what the tests said. Ignored files are not kept.",
            CheckpointArguments,
            checkpoint,
        ),
        make_tool(
            "go_back",
            "Put all files back to a checkpoint, to try another way; `start` is the untouched "
            f"repository. The state you leave is kept as `{BEFORE}`. Without a name: list the "
            "checkpoints with their notes.",
            GoBackArguments,
            go_back,
        ),
    )


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > MAX_NAME:
        raise ToolProblem(f"A checkpoint's name has 1 to {MAX_NAME} characters.")
    return name


def _listing(workspace: Workspace) -> str:
    rows = [f"- {each.name}: {each.note or '(no note)'}" for each in checkpoints(workspace)]
    return "\n".join(["Checkpoints:", *(rows or ["(none yet)"])])
