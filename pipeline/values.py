"""The values of a run, frozen: what recipes pass along, evidence fills in and choosing reads.

`to_json` and `from_json` in `pipeline.jsonable` turn each of them into plain JSON and back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["global", "local", "synthesis"]
CheckStatus = Literal["pass", "fail", "error", "timeout", "missing"]
Outcome = Literal["patch", "no_patch"]
Band = Literal["strong", "fair", "weak"]
VoteRule = Literal["soft", "majority"]
Dimension = Literal["root_cause", "expected_behaviour", "strategy", "context"]


@dataclass(frozen=True, slots=True)
class Task:
    """One issue to repair, as approved: the text is the snapshot, never read again."""

    repository: str
    issue_number: int | None
    title: str
    body: str
    base_commit: str


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the repository and why it matters. Lines are 1-based and inclusive."""

    path: str
    symbol: str = ""
    start: int = 0
    end: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Solution:
    """The four-tuple ⟨R, E, M, C⟩. Source: Prism, global exploration (method.md §2.1)."""

    root_cause: str
    expected_behaviour: str
    strategy: str
    context: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a plan. `sources` names the candidates it was taken from (synthesis only)."""

    path: str
    what: str
    symbol: str = ""
    reason: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """An explanation turned into steps; what one coder carries out."""

    summary: str
    solution: Solution
    changes: tuple[Change, ...]
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect a reviewer reported in a plan, checked against the code."""

    candidate: str
    claim: str
    verdict: Literal["real", "not_real", "unverifiable"]
    reason: str


@dataclass(frozen=True, slots=True)
class Complement:
    """One cell of the complementarity matrix: what an element of another plan is to the spine."""

    candidate: str
    dimension: Dimension
    relation: Literal["adds", "duplicates", "conflicts"]
    what: str


@dataclass(frozen=True, slots=True)
class RejectedIdea:
    """An idea of another plan that was left out, and why."""

    candidate: str
    idea: str
    reason: str


@dataclass(frozen=True, slots=True)
class Synthesis:
    """How an integrated plan came about. `defects` keep the dropped ones with their reasons.

    What was taken from whom stands in the plan's `Change.sources`.
    """

    spine: str
    defects: tuple[Defect, ...] = ()
    complements: tuple[Complement, ...] = ()
    rejected: tuple[RejectedIdea, ...] = ()


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A test file that shows the bug, written by a candidate's coder. A file of its own."""

    path: str
    text: str
    author: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One member of the pool.

    `id` is G1…, L1.1…, S1…; `parents` the ids its plan came from. `patch` is the source patch
    without reproduction files ("" when the coder left nothing). `exit_status` says how the
    coder ended: error, or as `pipeline.agent.loop.ExitStatus` has it; `ended_by` why, in words.
    `synthesis` says how an integrated plan came about.
    """

    id: str
    stage: Stage
    parents: tuple[str, ...]
    plan: Plan
    patch: str = ""
    reproductions: tuple[Reproduction, ...] = ()
    exit_status: str = ""
    summary: str = ""
    flags: tuple[str, ...] = ()
    synthesis: Synthesis | None = None
    ended_by: str = ""


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """What the patch policy says. `refused` and `held` are reasons, one per finding."""

    refused: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the patch may be verified and published (a held one only as a draft)."""
        return not self.refused


@dataclass(frozen=True, slots=True)
class Edit:
    """What a patch changes, as choosing compares it: comments, layout and wording left out.

    `key` is the same for patches that make the same change, "" when nothing is left of one.
    `files` are paths whose text changes for more than comments and layout; `symbols` the edited
    definitions as `path:Qual.Name`, `path:` for what is outside of them. `pieces` is a multiset of
    digests with their counts: added and removed sub-trees, or lines where a language is not parsed.
    All of them are sorted.
    """

    key: str
    files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    pieces: tuple[tuple[str, int], ...] = ()


NO_EDIT = Edit("")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the harness saw of one candidate, all of it in a fresh container.

    `lost` are tests of the base's stable passes that did not pass any more, exclusions already
    taken out; `excluded` those that were not counted. `regression_ran` is False when there is no
    suite, no verdict, or when `skipped` says in words why it, or the rest of it, was left out.
    `not_run` counts the tests that were not run: they are neither passed nor lost. `reproductions`
    maps the id of each validated reproduction of the pool ("author:path") to what it did on this
    candidate. `edit` is what choosing compares, empty when the patch is empty, refused or does not
    apply. `changed_lines` counts added and removed. `undefined` are names that the patch uses and
    nothing defines, as `name (path)`.
    """

    candidate: str
    policy: PolicyVerdict
    applies: bool
    parses: bool
    edit: Edit = NO_EDIT
    changed_lines: int = 0
    regression_ran: bool = False
    regression_passed: int = 0
    lost: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    reproductions: Mapping[str, CheckStatus] = field(default_factory=dict)
    note: str = ""
    not_run: int = 0
    skipped: str = ""
    undefined: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The normalised patch's sha256, the same for the same change, "" for none."""
        return self.edit.key


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A base test whose asserted behaviour the issue asks to change, with the sentence."""

    test: str
    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A validated reproduction: fails on base twice, as a test and not as an import error."""

    id: str
    reproduction: Reproduction
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """Why a candidate may or may not win; `reasons` is empty when it may."""

    candidate: str
    reasons: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the candidate may win."""
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Cluster:
    """Candidates that stand together: the same change, or the same behaviour in the same place.

    `label` is A, B, … in the order of the table.
    """

    label: str
    members: tuple[str, ...]
    votes: int
    gated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How far a choice may be trusted: bands until outcomes of this installation say more.

    `lineages` counts the independent explanations behind the winner's very change, `agreeing`
    the candidates that made it. `valid` of `total` candidates apply, parse and change something.
    `eff` is the sum over lineages of the root of their members among those that agree. `tested`
    tells that the winner passes a reproduction that counts. `probability`
    that the change is merged as it is comes from the `outcomes` last known here, None without
    enough of them.
    """

    band: Band
    lineages: int
    agreeing: int
    valid: int
    total: int
    eff: float
    tested: bool
    probability: float | None = None
    outcomes: int = 0


@dataclass(frozen=True, slots=True)
class Ballot:
    """The vote, recomputable from stored evidence. Clusters come winner first, then by votes.

    `winner` is a candidate id, None when no candidate passed the gate. `rule` names, in words,
    what decided. `tie` are the candidates between which only a contest can decide, () when it is
    decided. `scores` tell how near each patch is to the others, 0 to 1, weighted by lineage; only
    candidates whose patch is allowed, applies, parses and changes something have one.
    `confidence` is None without a winner. `vote` is the rule of the count: soft (scores) or
    majority (plain votes).
    """

    clusters: tuple[Cluster, ...]
    gates: tuple[Gate, ...]
    winner: str | None
    rule: str
    tie: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    confidence: Confidence | None = None
    vote: VoteRule = "soft"


@dataclass(frozen=True, slots=True)
class ContestVote:
    """What one selector chose: a candidate's id, "" when it abstained or gave no valid answer."""

    chosen: str
    confidence: Literal["low", "medium", "high"]
    reason: str


@dataclass(frozen=True, slots=True)
class Contest:
    """Independent votes between candidates that evidence and vote left in a tie, in their order."""

    votes: tuple[ContestVote, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of model calls; `cached` is the part of the input read from cache."""

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    @property
    def cached_share(self) -> float:
        """Cached input tokens over all input tokens, 0.0 when nothing was sent."""
        return self.cached_tokens / self.input_tokens if self.input_tokens else 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The end of a run: what won or that nothing did, with everything needed to show why.

    `patch` is what gets published: the winner's source patch and its validated reproduction
    as a file of its own; "" when `outcome` is no_patch. `out_of_budget` tells that samples were
    lost to a used-up budget. `untested` says why no test of the repository spoke for the patch,
    "" when tests did; `pin` is a `.github/prism.yml` that keeps what the set-up agent found.
    `not_run` says in sentences which plans got no coder and why. `contest` is what selectors
    chose where the vote was tied, None where it was not.
    """

    outcome: Outcome
    patch: str
    candidates: tuple[Candidate, ...]
    evidence: Mapping[str, Evidence]
    ballot: Ballot
    reproductions: tuple[Reproduced, ...]
    exclusions: tuple[Exclusion, ...]
    isolation: str
    environment: str
    baseline: str
    notes: tuple[str, ...] = ()
    out_of_budget: bool = False
    untested: str = ""
    pin: str = ""
    not_run: tuple[str, ...] = ()
    contest: Contest | None = None
