"""What a selector may do: read, run, put a candidate in place, try a test on all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pipeline.agent.reading import reading_tools
from pipeline.agent.searching import Shown, search_tools
from pipeline.agent.tool import Observation, Tool, ToolProblem, inside, make_tool
from pipeline.agent.transcript import cut
from pipeline.agent.writing import summary, writing_tools
from pipeline.index.search import CodeSearch
from sandbox.base import Workspace

BASE = "base"
ABSTAIN = "abstain"
MAX_TRIES = 6
SHOWN = 1500  # characters of each run: the counts and the end


@dataclass(frozen=True, slots=True)
class PutArguments:
    """Input of `put`."""

    label: str


@dataclass(frozen=True, slots=True)
class TryArguments:
    """Input of `try_test`: a whole test file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ChooseArguments:
    """Input of `choose`."""

    label: str
    confidence: Literal["low", "medium", "high"]
    reason: str


async def states(workspace: Workspace, patches: Mapping[str, str]) -> dict[str, str]:
    """Snapshots of the base and of each patch by label; a patch that does not apply has none.

    Costs one snapshot each. The workspace ends as the base.
    """
    found = {BASE: await workspace.snapshot()}
    for label, patch in patches.items():
        applied = await workspace.apply(patch)
        if applied.ok:
            found[label] = await workspace.snapshot()
        await workspace.restore(found[BASE])
    return found


def selector_tools(
    workspace: Workspace, known: Mapping[str, str], code: CodeSearch | None = None
) -> tuple[Tool, ...]:
    """Reading, shell, run_tests, put, try_test and choose; `known` are snapshots by label."""
    labels = tuple(label for label in known if label != BASE)
    running = (tool for tool in writing_tools(workspace) if tool.spec.name != "edit")
    return (
        *reading_tools(workspace),
        *(search_tools(code, Shown(), "Shows the base commit.") if code else ()),
        *running,
        _put(workspace, known),
        _try_test(workspace, known),
        _choose(labels),
    )


def _put(workspace: Workspace, known: Mapping[str, str]) -> Tool:
    async def put(arguments: PutArguments) -> str:
        label = _label(arguments.label, known)
        await workspace.restore(known[label])
        return f"All files are now those of {label}."

    return make_tool(
        "put",
        f"Put all files to the state of a candidate, or of `{BASE}` (nothing repaired).",
        PutArguments,
        put,
    )


def _try_test(workspace: Workspace, known: Mapping[str, str]) -> Tool:
    tries = 0

    async def try_test(arguments: TryArguments) -> str:
        nonlocal tries
        if tries == MAX_TRIES:
            raise ToolProblem(f"{MAX_TRIES} tests were tried; choose by what they showed.")
        tries += 1
        path = inside(workspace.path, arguments.path)
        parts = []
        for label, snapshot in known.items():
            await workspace.restore(snapshot)
            await workspace.write(path, arguments.text)
            run = await workspace.test((path,))
            parts.append(f"[{label}] {cut(summary(run), SHOWN)}")
        await workspace.restore(known[BASE])
        return "\n\n".join(parts)

    return make_tool(
        "try_test",
        "Write a test file and run it on the base and on every candidate, each in its own state; "
        f"nothing of it stays. At most {MAX_TRIES} times.",
        TryArguments,
        try_test,
    )


def _choose(labels: tuple[str, ...]) -> Tool:
    async def choose(arguments: ChooseArguments) -> Observation:
        label = _label(arguments.label, (*labels, ABSTAIN))
        output = {"label": label, "confidence": arguments.confidence, "reason": arguments.reason}
        return Observation("Your choice is recorded.", output=output)

    return make_tool(
        "choose",
        f"End your work with one label, or `{ABSTAIN}` when nothing tells the candidates apart.",
        ChooseArguments,
        choose,
    )


def _label(given: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    """The label that is meant, in any case; ToolProblem for one that is not there."""
    by_case = {label.lower(): label for label in known}
    found = by_case.get(given.strip().lower())
    if found is None:
        raise ToolProblem(f"There is no {given!r}; the labels are {', '.join(known)}.")
    return found
