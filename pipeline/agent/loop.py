"""The tool loop: ask, act, observe, until the agent hands something in or a limit ends it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from pipeline.agent.compaction import Window
from pipeline.agent.limits import AgentLimits, Clock, TimeUp
from pipeline.agent.roles import AgentRole
from pipeline.agent.stuck import LONGEST, Warned, circle_in, warning
from pipeline.agent.tool import Observation, Tool
from pipeline.agent.transcript import Transcript, Turn
from pipeline.errors import (
    BudgetExhausted,
    ItemShareUsed,
    MalformedAnswer,
    ModelRefused,
    PromptTooLong,
)
from pipeline.index.quoting import asked_name
from pipeline.model.wire import sent_back, tokens_in, tool_calls
from pipeline.prompts.render import render
from pipeline.records import tool_data
from pipeline.services import CallAddress, Json, Model, ModelReply, ModelRequest, Recorder, ToolSpec

ExitStatus = Literal[
    "submitted", "turns", "time", "budget", "share", "malformed", "refused", "stuck", "context"
]

MAX_MALFORMED = 3
MAX_TOKENS = 8192
_ENDED: dict[type[Exception], ExitStatus] = {  # the first that fits
    TimeUp: "time",
    ItemShareUsed: "share",
    BudgetExhausted: "budget",
    ModelRefused: "refused",
    PromptTooLong: "context",
    MalformedAnswer: "malformed",
}
_FINISH = "finish and hand in what you have."
LAST_CALL = 5  # turns left when the agent is told to come to an end


@dataclass(frozen=True, slots=True)
class AgentRun:
    """How an agent ended. `output` is what it handed in, None unless `exit_status` is submitted.

    `reason` says why it was ended, in words without a full stop; "" when it was not, or declined.
    """

    transcript: Transcript
    output: Json
    exit_status: ExitStatus
    turns: int
    reason: str = ""


async def run_agent(
    model: Model,
    role: AgentRole,
    transcript: Transcript,
    tools: Sequence[Tool],
    at: CallAddress,
    limits: AgentLimits,
    recorder: Recorder | None = None,
) -> AgentRun:
    """Run one agent from `transcript` on.

    `at.turn` is a prefix ("" or e.g. "r1.") before the turn numbers, which count from 0. Turns
    that were cut off, empty or called no valid tool are answered with what is wrong; three in a
    row end the run. One that goes round in circles is warned, and ended when it goes on. What
    outgrows the model's context is sent in short, see `compaction`.
    Limits are outcomes: time, budget, the item's share of it, refusal, a full context and an answer
    that cannot be read end the run with their status, and the workspace keeps what was done. A tool
    at work is never interrupted. Other model errors and a lost workspace are raised.
    """
    toolbox = {tool.spec.name: tool for tool in tools}
    system, specs = render(role.prompt).system, tuple(tool.spec for tool in tools)
    window = Window(limits.context_tokens, _fixed_tokens(system, specs))
    clock, max_tokens = Clock(limits.seconds), MAX_TOKENS
    watch = _Watch(len(transcript.turns), clock)
    for number in range(limits.turns):
        address = replace(at, turn=f"{at.turn}{number}")
        request = ModelRequest(
            *(address, role.name, system, (), specs),
            max_tokens=max_tokens,
            is_left_later=role.is_left_later,
        )
        try:
            async with clock.running():
                reply, window = await _answered(model, request, transcript, window)
        except tuple(_ENDED) as error:
            return AgentRun(transcript, None, _ended_by(error), number, _reason(error))
        step = await _act(reply, toolbox)
        await _record(recorder, address, step)
        transcript = transcript.extend(step.turn)
        if step.output is not None:
            return AgentRun(transcript, step.output, "submitted", number + 1)
        ended, told = watch.see(step, transcript, limits.turns - number - 1)
        if ended is not None:
            return AgentRun(transcript, None, ended, number + 1, told)
        if told:
            transcript = transcript.append(told)
        max_tokens = MAX_TOKENS * 2 if reply.stop_reason == "max_tokens" else MAX_TOKENS
    return AgentRun(
        transcript, None, "turns", limits.turns, f"its {limits.turns} turns are used up"
    )


async def _answered(
    model: Model, request: ModelRequest, transcript: Transcript, window: Window
) -> tuple[ModelReply, Window]:
    """The answer to the conversation, and what of it was sent.

    It is shortened before it nears the limit, and where the model says that it is too long.
    """
    if not window.fits(transcript):
        window = window.compacted(transcript)
    while True:
        try:
            reply = await model.complete(replace(request, messages=window.messages(transcript)))
        except PromptTooLong:
            pass
        else:
            if reply.stop_reason != "model_context_window_exceeded":
                return reply, window
        window = window.compacted(transcript)


def _fixed_tokens(system: str, specs: tuple[ToolSpec, ...]) -> int:
    return tokens_in(
        [system, *([spec.name, spec.description, dict(spec.schema)] for spec in specs)]
    )


@dataclass(frozen=True, slots=True)
class _Step:
    turn: Turn
    observations: tuple[Observation, ...]
    seconds: tuple[float, ...]
    malformed: bool

    @property
    def output(self) -> Json:
        return next((o.output for o in self.observations if o.output is not None), None)


@dataclass(slots=True)
class _Watch:
    """Sees when to warn an agent, and when to end it; what was before turn `start` is another's."""

    start: int
    clock: Clock
    malformed: int = 0
    warned: Warned = field(default_factory=Warned)
    is_late: bool = False

    def see(self, step: _Step, transcript: Transcript, left: int) -> tuple[ExitStatus | None, str]:
        """How the agent is ended and why; or None and what it is to be told, "" for nothing.

        `left` is the number of turns to come.
        """
        turn = len(transcript.turns)
        circle = circle_in(transcript.turns[max(self.start, turn - LONGEST) :])
        self.malformed = self.malformed + 1 if step.malformed else 0
        if self.malformed >= MAX_MALFORMED:
            said = f"{MAX_MALFORMED} answers in a row called no tool as it must be"
            return "malformed", circle or said
        if circle and self.warned.is_final(turn):
            return "stuck", f"{circle}, and a warning did not help"
        told = [warning(circle)] if circle else []
        if circle:
            self.warned = self.warned.again(turn)
        if left == LAST_CALL:
            told.append(f"Only {LAST_CALL} turns are left: {_FINISH}")
        if not self.is_late and self.clock.is_short():
            self.is_late = True
            told.append(f"Little time is left: {_FINISH}")
        return None, "\n".join(told)


async def _act(reply: ModelReply, toolbox: dict[str, Tool]) -> _Step:
    calls = tool_calls(reply.content)
    cut_off = reply.stop_reason == "max_tokens"
    observations: list[Observation] = []
    times = [time.monotonic()]
    for block in calls:
        ended = any(observation.output is not None for observation in observations)
        observations.append(await _one(block, toolbox, cut_off=cut_off, ended=ended))
        times.append(time.monotonic())
    user = [_result(block, seen) for block, seen in zip(calls, observations, strict=True)]
    if not calls:
        user = [{"type": "text", "text": _reminder(cut_off, sorted(toolbox))}]
    turn = Turn(sent_back(reply.content), tuple(user))
    malformed = all(observation.malformed for observation in observations)
    seconds = tuple(end - begin for begin, end in pairwise(times))
    return _Step(turn, tuple(observations), seconds, malformed)


async def _record(recorder: Recorder | None, at: CallAddress, step: _Step) -> None:
    if recorder is None:
        return
    calls = tool_calls(step.turn.assistant)
    for block, seen, seconds in zip(calls, step.observations, step.seconds, strict=True):
        data = tool_data(block, seen.text, is_error=seen.is_error, seconds=seconds)
        await recorder.record("tool", str(at), at.attempt, data)


async def _one(block: Json, toolbox: dict[str, Tool], *, cut_off: bool, ended: bool) -> Observation:
    if cut_off:
        text = (
            "The answer was cut off at the length limit, so this call was NOT carried out. Make "
            "the next step smaller: shorter text, edits of one passage."
        )
        return Observation(text, is_error=True, malformed=True)
    if ended:
        return Observation("Not carried out: the work was handed in before it.", is_error=True)
    tool = toolbox.get(block["name"])
    if tool is None:
        names = ", ".join(sorted(toolbox))
        text = f"There is no tool {asked_name(block['name'])}. The tools are: {names}."
        return Observation(text, is_error=True, malformed=True)
    return await tool.run(block["input"])


def _result(block: Json, seen: Observation) -> Json:
    result = {
        "type": "tool_result",
        "tool_use_id": block["id"],
        "content": seen.text or "(no output)",
    }
    return {**result, "is_error": True} if seen.is_error else result


def _reminder(cut_off: bool, names: list[str]) -> str:
    ending = next((name for name in names if name.startswith("submit")), names[-1])
    if cut_off:
        return "The answer was cut off at the length limit. Be shorter, and call a tool."
    return f"No tool was called. Call one; when the work is done, call `{ending}`."


def _reason(error: Exception) -> str:
    """Why, for people; nothing of what a model declined is told."""
    return "" if isinstance(error, ModelRefused) else str(error).rstrip(".")


def _ended_by(error: Exception) -> ExitStatus:
    return next(status for kind, status in _ENDED.items() if isinstance(error, kind))
