"""Tools that end a run: submit_plan for planners, submit for coders."""

import re
import shlex
from dataclasses import dataclass
from typing import Literal

from pipeline.agent.tool import Observation, Tool, ToolProblem, inside, make_tool
from pipeline.evidence.policy import check_patch
from pipeline.index.units import undefined
from pipeline.jsonable import from_json, to_json
from pipeline.services import Json
from pipeline.values import Change, Location, Plan, Solution
from sandbox.base import Command, Workspace
from sandbox.errors import FileNotFound, NotAllowed
from sandbox.patch.patch import PatchError, parse, without_paths

# Whoever says in words that a file is made need not be told to write the mark.
_MADE = re.compile(r"\(new\)|\b(new|adds?|creates?|moves?|renames?)\b", re.IGNORECASE)

MAX_FINDINGS = 20

Status = Literal["fixed", "partial", "not_fixed"]


@dataclass(frozen=True, slots=True)
class PlanArguments:
    """Input of `submit_plan`: a plan, with its four-tuple spread out."""

    summary: str
    root_cause: str
    expected_behaviour: str
    strategy: str
    context: tuple[Location, ...]
    changes: tuple[Change, ...]
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubmitArguments:
    """Input of `submit`; `tests` are the paths of the reproduction's test files."""

    summary: str
    status: Status
    tests: tuple[str, ...] = ()


def makes(what: str) -> bool:
    """Whether a change says that it makes something that is not there yet."""
    return _MADE.search(what) is not None


def plan_from(output: Json) -> Plan:
    """The plan a planner submitted; raises pydantic.ValidationError for anything else."""
    given = from_json(PlanArguments, output)
    solution = Solution(given.root_cause, given.expected_behaviour, given.strategy, given.context)
    return Plan(given.summary, solution, given.changes, given.tests, given.risks)


def submission_from(output: Json) -> SubmitArguments:
    """What a coder submitted."""
    return from_json(SubmitArguments, output)


def submit_plan_tool(workspace: Workspace) -> Tool:
    """Ends a planner's run when the plan is complete and the places it names exist."""

    async def submit_plan(arguments: PlanArguments) -> Observation:
        if not arguments.changes or not arguments.context:
            raise ToolProblem("A plan needs at least one change and one place in `context`.")
        await _must_exist(workspace, "context", {place.path for place in arguments.context})
        changed = {each.path: inside(workspace.path, each.path) for each in arguments.changes}
        made = {changed[each.path] for each in arguments.changes if makes(each.what)}
        old = set(changed.values()) - made
        hint = " Write (new) in `what` for a file that is to be created."
        await _must_exist(workspace, "changes", old, hint)
        return Observation("The plan is recorded.", output=to_json(arguments))

    return make_tool(
        "submit_plan",
        "Hand in the plan. This ends your work: call it once, when the evidence suffices.",
        PlanArguments,
        submit_plan,
    )


def submit_tool(workspace: Workspace) -> Tool:
    """Ends a coder's run at the second call; the first is answered with a last check.

    It shows the change so far, and what the patch policy and the check of its names say of it,
    while it can be mended.
    """
    asked = False

    async def submit(arguments: SubmitArguments) -> Observation:
        nonlocal asked
        tests = sorted({inside(workspace.path, path) for path in arguments.tests})
        missing = await _missing(workspace, tests)
        if missing:
            raise ToolProblem(f"`tests` names files that do not exist: {', '.join(missing)}.")
        if asked:
            output = {"summary": arguments.summary, "status": arguments.status, "tests": tests}
            return Observation("Submitted.", output=output)
        asked = True
        patch = await workspace.diff()
        source = _without_reproductions(patch, tests)
        told = (_findings(source), await _undefined(source, workspace))
        return Observation(_last_check(diff_stat(patch), "\n".join(filter(None, told))))

    return make_tool(
        "submit",
        "Hand in your work. `tests` are the paths of your reproduction test files. The first call "
        "is answered with a last check, the second is final.",
        SubmitArguments,
        submit,
    )


def diff_stat(patch: str) -> tuple[str, ...]:
    """One line per changed file: path, lines added, lines removed."""
    rows = []
    for part in re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE):
        header = re.match(r"diff --git a/(.*) b/(.*)\n", part)
        if header is None:
            continue
        body = part[part.find("\n@@") + 1 :] if "\n@@" in part else ""
        added = len(re.findall(r"^\+", body, flags=re.MULTILINE))
        removed = len(re.findall(r"^-", body, flags=re.MULTILINE))
        rows.append(f"{header.group(2)}  +{added} −{removed}")
    return tuple(rows)


async def _must_exist(workspace: Workspace, field: str, paths: set[str], hint: str = "") -> None:
    missing = await _missing(workspace, sorted(inside(workspace.path, path) for path in paths))
    if missing:
        raise ToolProblem(f"`{field}` names files that do not exist: {', '.join(missing)}.{hint}")


async def _missing(workspace: Workspace, paths: list[str]) -> list[str]:
    if not paths:
        return []
    names = " ".join(map(shlex.quote, paths))
    line = f'for f in {names}; do [ -f "$f" ] || printf "%s\\n" "$f"; done'
    result = await workspace.exec(Command(line))
    return result.output.splitlines()


def _without_reproductions(patch: str, tests: list[str]) -> str:
    try:
        new = {each.path for each in parse(patch) if each.old_path is None}
    except PatchError:
        return patch  # the policy says what is wrong
    return without_paths(patch, [path for path in tests if path in new])


async def _undefined(source: str, workspace: Workspace) -> str:
    """Names in the added lines that nothing in their file defines, "" for none."""
    try:
        parts = [each for each in parse(source) if each.new_path is not None]
    except PatchError:
        return ""
    found = set[str]()
    for each in parts:
        words = set(re.findall(r"\w+", "\n".join(each.added)))
        try:
            names = await undefined(each.path, await workspace.read(each.path)) & words
        except (FileNotFound, NotAllowed):  # gone, or too large to be read
            continue
        found |= {f"- {each.path}: {name}" for name in names}
    head = "Nothing defines these names, and such a patch cannot win; import or define them:"
    return "\n".join([head, *sorted(found)[:MAX_FINDINGS]]) if found else ""


def _findings(source: str) -> str:
    """What the policy says of the patch without its reproductions, "" for nothing."""
    if not source.strip():
        return ""
    found = check_patch(source)
    refused = [f"- {reason}" for reason in found.refused[:MAX_FINDINGS]]
    held = [f"- {reason}" for reason in found.held[:MAX_FINDINGS]]
    if refused:
        refused = ["The patch is refused as a whole while this is so; mend it:", *refused]
    if held:
        held = ["A person has to look at this; undo what the issue does not need:", *held]
    return "\n".join([*refused, *held])


def _last_check(stat: tuple[str, ...], findings: str) -> str:
    changed = "\n".join(stat) or "(nothing is changed)"
    told = f"{findings}\n\n" if findings else ""
    return (
        f"Before this is final, your change so far:\n{changed}\n\n{told}"
        "Check once more: run your reproduction again; remove debugging output and scratch files "
        "that are not the fix or its reproduction test; undo accidental edits. Compare with the "
        "issue and the plan. Then call `submit` again; that call is final."
    )
