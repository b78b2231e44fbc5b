"""What a scripted run is made of: one `ScriptedCandidate` per member of the pool.

Scenario files write these; `emulator.model.builder.build_script` turns them into model answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pipeline.values import Change, Exclusion, Location

Block = dict[str, Any]  # a content block of the Messages API
Ending = Literal["submits", "gives_up", "no_patch", "rambles"]


def say(text: str) -> Block:
    """A text block."""
    return {"type": "text", "text": text}


def call(tool: str, **arguments: Any) -> Block:
    """A tool call; the server gives it an id that is unique in the conversation."""
    return {"type": "tool_use", "name": tool, "input": arguments}


@dataclass(frozen=True, slots=True)
class ScriptedCandidate:
    """One candidate as the scripted model will think, plan and code it.

    `id` is G1…, L1.1…, S1…. `patch` is a unified diff of source files against the base ("" when
    the coder leaves nothing); new files and several hunks are fine, renames are not.
    `reproduction` is (path, text) of a test file that the coder writes first. `looks` are paths
    the planner views (default: those of `context`). `checks` are test targets the coder runs
    after its edits, beside its reproduction. `guide` is the worldview that led here (k ≥ 2 and
    local branches; "" = made from root cause and strategy). `extra_turns` are raw turns played
    before the first submit, each a tuple of blocks (see `say` and `call`).

    `ending`: "submits"; "gives_up" (no edit, submits `not_fixed`); "no_patch" (no edit, claims
    `fixed`); "rambles" (never calls a tool, so the loop ends it as malformed).
    """

    id: str
    summary: str
    root_cause: str
    expected_behaviour: str
    strategy: str
    context: tuple[Location, ...]
    changes: tuple[Change, ...]
    patch: str = ""
    reproduction: tuple[str, str] | None = None
    looks: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    guide: str = ""
    status: Literal["fixed", "partial", "not_fixed"] = "fixed"
    ending: Ending = "submits"
    extra_turns: tuple[tuple[Block, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptedRun:
    """A whole run. Candidates come as G1…, L1.1…, S1… in any order.

    `files` maps each path that a patch modifies to its text at the base commit. `search` is the
    name or piece of code that planners search for. `exclusions` is what the Test agent answers.
    `answers` replaces or adds raw entries by address, e.g.
    {"global/G2/contrast": [call("answer", …)]}.
    """

    candidates: tuple[ScriptedCandidate, ...]
    files: Mapping[str, str]
    search: str = "def "
    exclusions: tuple[Exclusion, ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
