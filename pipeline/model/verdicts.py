"""The structured answers of single verdicts; each is the schema of one prompt's `answer` tool.

Field names are the model's instructions too, so they are words, and every schema is small.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline.values import (
    Change,
    Complement,
    Defect,
    Exclusion,
    Location,
    Plan,
    RejectedIdea,
    Solution,
    Synthesis,
)

Relation = Literal["same", "refines", "different"]
Severity = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class EarlierView:
    """How one earlier plan sees the bug."""

    id: str
    worldview: str
    evidence: str
    edit_points: str
    strategy: str
    assumptions: str


@dataclass(frozen=True, slots=True)
class GuideVerdict:
    """Prompt `divergence_guide`: a new worldview of 4 to 8 sentences for the next planner."""

    earlier: tuple[EarlierView, ...]
    guide: str
    evidence_to_seek: str
    difference: str
    avoid_edit_points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contrast:
    """How a new solution relates to one earlier solution; `reasons` has a line per dimension."""

    earlier: str
    root_cause: Relation
    expected_behaviour: Relation
    strategy: Relation
    context: Relation
    reasons: str


@dataclass(frozen=True, slots=True)
class ContrastVerdict:
    """Prompt `contrast`: one entry for each earlier solution, and which idea to avoid next."""

    compared: tuple[Contrast, ...]
    advice: str


@dataclass(frozen=True, slots=True)
class RankVerdict:
    """Prompt `rank`: all step indices of a trajectory, best branching point first."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EarlierTactic:
    """How one earlier plan of the same branch works, and what of it not to reuse."""

    id: str
    approach: str
    changes: str
    technique_not_to_reuse: str
    assumptions: str


@dataclass(frozen=True, slots=True)
class LocalGuideVerdict:
    """Prompt `local_guide`: another tactic under the same root cause and contract."""

    earlier: tuple[EarlierTactic, ...]
    untouched: tuple[str, ...]
    guide: str


@dataclass(frozen=True, slots=True)
class NeededPlace:
    """A place the expected behaviour requires to change, and which plans change it."""

    path: str
    symbol: str
    why: str
    covered_by: tuple[str, ...]
    missing_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompletenessVerdict:
    """Prompt `completeness`."""

    locations: tuple[NeededPlace, ...]


@dataclass(frozen=True, slots=True)
class Risk:
    """Behaviour that one plan may change by accident; `candidate` is the plan's id."""

    candidate: str
    behaviour: str
    call_sites: tuple[str, ...]
    severity: Severity
    revealing_test: str


@dataclass(frozen=True, slots=True)
class RiskVerdict:
    """Prompt `risk`."""

    risks: tuple[Risk, ...]


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """Prompt `judge`: checked defects, the matrix, and one plan; each change names its sources."""

    defects: tuple[Defect, ...]
    complements: tuple[Complement, ...]
    summary: str
    root_cause: str
    expected_behaviour: str
    strategy: str
    context: tuple[Location, ...]
    changes: tuple[Change, ...]
    rejected: tuple[RejectedIdea, ...]
    tests: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()

    def plan(self) -> Plan:
        """The unified plan as a value of the pipeline."""
        solution = Solution(self.root_cause, self.expected_behaviour, self.strategy, self.context)
        return Plan(self.summary, solution, self.changes, self.tests, self.risks)

    def synthesis(self, spine: str) -> Synthesis:
        """How the plan came about, for the record and the rationale."""
        return Synthesis(spine, self.defects, self.complements, self.rejected)


@dataclass(frozen=True, slots=True)
class ExclusionVerdict:
    """Prompt `exclusions`: existing tests whose asserted behaviour the issue asks to change."""

    exclusions: tuple[Exclusion, ...]
