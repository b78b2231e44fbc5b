"""What a recipe is given from outside, as Protocols: `app` implements them over its tables.

The command line implements Journal and Budget over JSON lines (`pipeline.journal`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pipeline.choose.calibration import Calibration
from pipeline.index.store import Index
from pipeline.model.contexts import CONTEXT_TOKENS
from pipeline.values import Usage, VoteRule
from sandbox.base import Sandbox, Source

Json = Any  # what json.loads returns
PipelineStage = Literal[
    "environment", "global", "local", "synthesis", "code", "verify", "vote", "publish"
]
Effort = Literal["full", "lean", "adaptive"]
ContrastRule = Literal["major", "all4"]
SynthesisScope = Literal["cross", "branch"]
BranchWeights = Literal["page", "code"]
RecordKind = Literal["call", "tool"]


@dataclass(frozen=True, slots=True)
class CallAddress:
    """Where a model call stands: `stage/item/turn`.

    `turn` is a number for agents (a fork counts from 0 again) and a word for single verdicts. A
    retry keeps its address; `attempt` counts how often the item was started.
    """

    stage: PipelineStage
    item: str
    turn: str
    attempt: int = 1

    @property
    def of(self) -> str:
        """The item's name in the journal."""
        return f"{self.stage}/{self.item}"

    def __str__(self) -> str:
        return f"{self.stage}/{self.item}/{self.turn}"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `schema` is a JSON schema of an object."""

    name: str
    description: str
    schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `messages` are Messages-API dicts; `force_tool` names the only tool allowed.

    `is_left_later`: other conversations will branch off after a wait, so its cache entries have
    to live that long.
    """

    address: CallAddress
    role: str
    system: str
    messages: tuple[Json, ...]
    tools: tuple[ToolSpec, ...] = ()
    force_tool: str = ""
    max_tokens: int = 8192
    is_left_later: bool = False


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete answer. `content` are the API's blocks as dicts, `stop_reason` never None."""

    content: tuple[Json, ...]
    stop_reason: str
    usage: Usage
    model: str


class Model(Protocol):
    """The gateway: budgeted, retried, always streaming."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Make one call.

        Raises BudgetExhausted before the call when it does not fit; ModelRefused, ModelRejected
        (request), KeyRefused, MalformedAnswer or ModelUnavailable after it (see pipeline.errors).
        """


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """What the journal knows of an item: its attempts so far and its output once finished."""

    attempts: int
    finished: bool
    output: Json = None


class Journal(Protocol):
    """Items of one run. A finished item is never repeated, one in flight starts again."""

    async def start(self, stage: PipelineStage, item: str) -> ItemRecord:
        """The finished record, or a new attempt counted and written down before it begins."""

    async def finish(self, stage: PipelineStage, item: str, output: Json) -> None:
        """Record the output; JSON of at most a few MB."""


class Budget(Protocol):
    """Money and tokens of one run: reserve the worst case, call, settle. Survives restarts."""

    async def reserve(
        self,
        address: CallAddress,
        request_hash: str,
        worst_usd: float,
        *,
        tokens: int = 0,
        role: str = "",
    ) -> int:
        """Set `worst_usd` and `tokens` (in and out) aside for a role; returns a handle.

        Raises BudgetExhausted when it is too much for the run, the stage or the role,
        ItemShareUsed when it is for the item of the address.
        """

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        """Replace the reservation by what the call really cost."""

    async def spent(self) -> Usage:
        """Everything settled so far, of earlier attempts too."""

    async def stages(self) -> Mapping[str, Usage]:
        """The same by stage, for those that made calls."""


class Recorder(Protocol):
    """What happened inside the items, for replays and for people; a run never depends on it."""

    async def record(self, kind: RecordKind, address: str, attempt: int, data: Json) -> None:
        """Keep one event; never raises and never waits for long. `data` must not change later.

        "call": what `pipeline.records.call_data` makes, at the call's address. "tool": what
        `tool_data` makes, at the address of the call that asked for it. Neither holds keys, tokens
        or headers. Evidence is no record: it is in the journal as the items of `verify`.
        """


class Progress(Protocol):
    """Told as items begin and end; must never raise and never block for long."""

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """`done` of `total` items of a stage are finished; `note` is one short sentence."""


class CodeIndex(Protocol):
    """Where things are in the repository; see `pipeline.index`."""

    async def opened(self) -> Index | None:
        """The index of the base commit, None when it could not be built: work goes on without.

        It is built beside the set-up; who asks early waits. The caller must not close it.
        """


@dataclass(frozen=True, slots=True)
class RunConfig:
    """The counts, choices and limits of a run. Defaults are the paper's (method.md §2.1).

    `effort`: "full" codes every plan, "lean" the integrated ones, "adaptive" these first and more
    while they disagree or evidence is missing. `stop_early` lets a full run end as well once
    nothing can change. `vote`: "soft" weighs similarity, "majority" is the paper's plain count.
    `contrast`: how many of ⟨R, E, M, C⟩ must differ, M and one more ("major") or "all4".
    `synthesis_scope`: whether a synthesis sees all plans ("cross") or those of its own branch.
    `branch_weights`: the weights of g and h, 1 : 1 ("page") or 0.3 : 0.7 ("code").
    `context_tokens`: the longest conversation an agent sends, see `pipeline.agent.compaction`,
    `item_minutes` how long it may work.
    `test_budget_s`: a suite that takes longer on the base is run in part, nearest tests first
    (0.0 = always all of it).
    """

    n_global: int = 3
    n_local: int = 2
    n_synthesis: int = 3
    regenerations: int = 2
    effort: Effort = "full"
    stop_early: bool = False
    vote: VoteRule = "soft"
    contrast: ContrastRule = "major"
    synthesis_scope: SynthesisScope = "cross"
    branch_weights: BranchWeights = "page"
    contest_votes: int = 5
    planner_turns: int = 60
    coder_turns: int = 80
    selector_turns: int = 30
    context_tokens: int = CONTEXT_TOKENS
    item_minutes: float = 30.0
    max_parallel: int = 4
    max_parallel_tests: int = 2
    require_tests: bool = False
    test_budget_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Services:
    """Everything a recipe may use.

    Without an `index` nothing was built in advance; without a `recorder` nothing is recorded.
    Without a `calibration` confidence is told in bands alone.
    """

    run: str
    model: Model
    sandbox: Sandbox
    source: Source
    journal: Journal
    budget: Budget
    progress: Progress
    config: RunConfig
    index: CodeIndex | None = None
    recorder: Recorder | None = None
    calibration: Calibration | None = None
