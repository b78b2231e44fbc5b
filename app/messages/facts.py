"""What the texts are told about a run: plain values, nothing fetched here."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.services import PipelineStage
from pipeline.values import Usage


@dataclass(frozen=True, slots=True)
class Removal:
    """A kind of hidden text that was taken out of the issue, and the start of the first."""

    kind: str
    count: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What stays the same during a run. `requested_by` is a login, `models` names in use.

    `isolation` is "container" or "none"; `snapshot_sha256` the hash of the approved text;
    `page_url` the signed address of the run page, "" for none.
    """

    run_id: str
    repository: str
    issue_number: int
    requested_by: str
    base_branch: str
    base_commit: str
    budget_usd: float
    isolation: str = "container"
    generation: int = 1
    recipe: str = "prism"
    models: tuple[str, ...] = ()
    scripted_model: bool = False
    snapshot_sha256: str = ""
    removed: tuple[Removal, ...] = ()
    label: str = "prism-fix"
    page_url: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run used: in all and by stage, in seconds, and in words what it waited for."""

    usage: Usage
    elapsed_s: float
    costs: Mapping[str, Usage]
    timing: str = ""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    """Title and body of a pull request; the title is also the commit's subject."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class StageState:
    """Where a stage stands: `done` of `total` items, and one short sentence."""

    stage: PipelineStage
    done: int
    total: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run ended without a result, each part one sentence.

    `kept` is what can be used again, `next_step` what a person can do, `log` the last lines of
    what a command printed.
    """

    phase: str
    cause: str
    kept: str = ""
    next_step: str = "Comment `/prism rerun` to try again."
    log: str = ""


@dataclass(frozen=True, slots=True)
class SetupFailure:
    """Why a repository could not be set up.

    `line` is the set-up line that failed and `how` its end in words; `origin` says where it came
    from, `denied` which hosts it was refused, `agent` how the set-up agent ended ("" when it was
    not asked), `log` is the end of what was printed. `next_steps` are what a person can do.
    """

    cause: str
    line: str
    how: str
    origin: str
    denied: tuple[str, ...]
    agent: str
    next_steps: tuple[str, ...]
    log: str
