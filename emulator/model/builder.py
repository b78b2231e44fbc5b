"""Builds the script of a whole run from `ScriptedRun`: every answer at the address Prism asks at.

Planners: three turns of looking, the last of which ends the search with finish_search, then
submit_plan (forks: one and submit_plan). Each turn has a call that works without a code index as
well, so that a run without one goes on. Coders: view and what relies on it, reproduction, edits,
tests, submit twice. Verdicts follow from the candidates' data.
"""

import re
import shlex
from typing import Any

from emulator.model.diff import Edit, Removal, edits_of, paths_of
from emulator.model.script import Script, ScriptError, checked
from emulator.model.scripted import Block, ScriptedCandidate, ScriptedRun, call, say
from emulator.model.verdicts import exclusions, explored_answers, plan_fields, synthesis_answers
from pipeline.values import Location

Json = Any
Turn = list[Block]

LOOKED_AT = 3
AROUND = 30  # lines
SELECTORS = 5


def build_script(run: ScriptedRun) -> Script:
    """The script of a run; raises ScriptError when a patch cannot be played."""
    script: Script = {}
    for candidate in run.candidates:
        try:
            script.update(_explored(candidate, run))
            turns = coder_turns(candidate, run)
        except ScriptError as error:
            raise ScriptError(f"{candidate.id}: {error}") from None
        script.update({f"code/{candidate.id}/{n}": turn for n, turn in enumerate(turns)})
    script["verify/exclusions/exclusions"] = exclusions(run)
    script.update(abstaining())
    script.update(run.answers)
    return checked(script)


def coder_turns(candidate: ScriptedCandidate, run: ScriptedRun) -> list[Turn]:
    """What the coder of a candidate says and does, one entry per turn."""
    if candidate.ending == "rambles":
        return [[say(f"I keep thinking about it ({n}).")] for n in range(3)]
    turns = [_looking_first(candidate, run)]
    if candidate.reproduction is not None:
        path, text = candidate.reproduction
        turns.append(
            [
                say("First a test of its own that shows the bug."),
                call("edit", path=path, new=text, create=True),
            ]
        )
        failing = call("checkpoint", name="reproduced", note="The test fails as the issue says.")
        turns.append([say("It has to fail now."), call("run_tests", targets=[path]), failing])
    if candidate.ending == "submits":
        turns += [_editing(step) for step in edits_of(candidate.patch, run.files)]
    targets = _targets(candidate)
    if targets and candidate.ending == "submits":
        turns.append([say("Does it hold now?"), call("run_tests", targets=targets)])
    turns += [list(extra) for extra in candidate.extra_turns]
    submit = _submit(candidate)
    turns.append([say("Everything the plan asks for is done."), submit])
    turns.append([say("The last check shows nothing to clean up."), submit])
    return turns


def abstaining() -> Script:
    """Selectors that choose nobody, should a vote be tied: labels are drawn by lot for each run."""
    words = [say("Nothing in the issue tells them apart.")]
    choice = call("choose", label="abstain", confidence="low", reason="Both do what is asked.")
    return {f"vote/contest:{number}/0": [*words, choice] for number in range(1, SELECTORS + 1)}


def _explored(candidate: ScriptedCandidate, run: ScriptedRun) -> Script:
    if candidate.id.startswith("S"):
        return synthesis_answers(candidate, run)
    stage = "global" if candidate.id.startswith("G") else "local"
    turns = _planner_turns(candidate, run, fork=stage == "local")
    prefix = f"{stage}/{candidate.id}"
    script: Script = {f"{prefix}/{n}": turn for n, turn in enumerate(turns)}
    return {
        **script,
        **explored_answers(candidate, run, last=len(_planner_turns(candidate, run)) - 1),
    }


def _planner_turns(
    candidate: ScriptedCandidate, run: ScriptedRun, *, fork: bool = False
) -> list[Turn]:
    looks = candidate.looks or tuple(dict.fromkeys(place.path for place in candidate.context))
    place = candidate.context[0]
    close = call("view", path=place.path, start=max(1, place.start - 5), end=place.end + 5 or 60)
    submit = [
        say(f"The evidence suffices. {candidate.summary}"),
        call("submit_plan", **plan_fields(candidate)),
    ]
    chosen = call("finish_search", units=[_unit(each, run) for each in candidate.context])
    if fork:
        return [[say(f"Another way to repair it: {candidate.strategy}"), close, chosen], submit]
    return [
        [
            say("I want to know how the project is laid out and where the affected names occur."),
            call("list", path=".", depth=2),
            call("find_code_content", content=run.search),
            call("find_file", file_name=looks[0].rpartition("/")[2]),
        ],
        [
            say(f"The behaviour should come from {looks[0]}; I want to see how it is built."),
            *(call("outline", path=path) for path in looks),
            *(
                call("find_code_def", definition_name=each.symbol, file_path=each.path)
                for each in candidate.context
                if _definition(each, run)
            ),
        ],
        [
            say(f"{place.why or 'This place decides.'} I read it closely, and what relies on it."),
            close,
            call("preview", unit=_unit(place, run)),
            *_child(place, run),
            call("neighbours", unit=_unit(place, run), direction="in"),
            chosen,
        ],
        submit,
    ]


def _definition(place: Location, run: ScriptedRun) -> str:
    """The class or function of a place; "" where there is none, or only a constant."""
    name = place.symbol.rpartition(".")[2]
    text = run.files.get(place.path)
    there = text is None or re.search(rf"\b(?:def|class)\s+{re.escape(name)}\b", text)
    return place.symbol if name and there else ""


def _unit(place: Location, run: ScriptedRun) -> str:
    """The id of a place in the code index."""
    name = _definition(place, run)
    return f"{place.path}:{name}" if name else place.path


def _child(place: Location, run: ScriptedRun) -> list[Block]:
    name = _definition(place, run)
    return [call("find_child_unit", definition_name=name, file_path=place.path)] if name else []


def _looking_first(candidate: ScriptedCandidate, run: ScriptedRun) -> Turn:
    touched = [path for path in paths_of(candidate.patch) if path in run.files]
    paths = (touched or [candidate.context[0].path])[:LOOKED_AT]
    return [
        say("I look at the places I am going to change, and at what stands around them."),
        *(call("view", path=path, **_around(candidate, run, path)) for path in paths),
        *_child(candidate.context[0], run),
        call("neighbours", unit=_unit(candidate.context[0], run), direction="in"),
    ]


def _around(candidate: ScriptedCandidate, run: ScriptedRun, path: str) -> dict[str, int]:
    """The lines of a file to look at: those that change, with some around them."""
    text = run.files.get(path, "")
    steps = edits_of(candidate.patch, run.files) if candidate.patch else ()
    olds = [each.old for each in steps if isinstance(each, Edit) and each.path == path]
    lines = [text[: max(0, text.find(old))].count("\n") + 1 for old in olds if old]
    if not lines:
        places = [place.start for place in candidate.context if place.path == path]
        lines = [line for line in places if line] or [1]
    return {"start": max(1, min(lines) - AROUND), "end": max(lines) + AROUND}


def _editing(step: Edit | Removal) -> Turn:
    if isinstance(step, Removal):
        return [say(f"{step.path} goes."), call("shell", command=f"rm -- {shlex.quote(step.path)}")]
    if step.create:
        made = call("edit", path=step.path, new=step.new, create=True)
        return [say(f"{step.path} is new."), made]
    changed = call("edit", path=step.path, old=step.old, new=step.new)
    return [say(f"The next change of the plan, in {step.path}."), changed]


def _targets(candidate: ScriptedCandidate) -> list[str]:
    own = [candidate.reproduction[0]] if candidate.reproduction else []
    return [*own, *candidate.checks]


def _submit(candidate: ScriptedCandidate) -> Block:
    own = [candidate.reproduction[0]] if candidate.reproduction else []
    if candidate.ending == "gives_up":
        summary, status = "The plan could not be carried out.", "not_fixed"
    else:
        summary, status = candidate.summary, candidate.status
    return call("submit", summary=summary, status=status, tests=own)
