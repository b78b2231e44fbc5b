"""What the moves of an exploration share, and what each of them leaves behind."""

from dataclasses import dataclass

from pipeline.agent.transcript import Transcript
from pipeline.index.search import CodeSearch
from pipeline.services import Services
from pipeline.values import Plan, Stage, Synthesis, Task
from sandbox.base import Environment, Workspace

NO_CODE = "(nothing is shown: begin with `view`)"
NO_PLACES = "(none known: begin with `list` and `search_text`)"


@dataclass(frozen=True, slots=True)
class Exploration:
    """One run while it explores; `workspace` is read by all planners and changed by none.

    `about` tells agents how the repository is tested, the same words in every conversation.
    `code` searches the base commit, None when no index could be built. `places` tells planners
    where to look first, `shown` shows coders the code that all plans are about; both are the same
    words in every conversation too.
    """

    task: Task
    services: Services
    environment: Environment
    workspace: Workspace
    about: str
    code: CodeSearch | None = None
    places: str = NO_PLACES
    shown: str = NO_CODE


@dataclass(frozen=True, slots=True)
class Explored:
    """The output of one exploration item: a plan, or None and why in `exit_status`.

    `transcript` is what a local exploration forks from; None for syntheses. `branch_step` is the
    step it was forked at, None for everything that was not. `notes` record how it was compared,
    `missing` which verdicts it had to do without and why, `synthesis` what the judge took and left
    (syntheses only). `objection` is what was wrong with the last plan of a planner without one,
    `ended_by` says in words why it was ended.
    """

    id: str
    stage: Stage
    parents: tuple[str, ...]
    plan: Plan | None
    transcript: Transcript | None
    exit_status: str
    branch_step: int | None = None
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    synthesis: Synthesis | None = None
    missing: tuple[str, ...] = ()
    objection: str = ""
    ended_by: str = ""
