"""The vote as a run holds it, and as a replay holds it again: one place for what it reads. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.choose.calibration import Calibration
from pipeline.choose.vote import vote
from pipeline.jsonable import from_json
from pipeline.services import Json, RunConfig
from pipeline.values import Ballot, Candidate, Contest, Evidence, Exclusion, Reproduced


@dataclass(frozen=True, slots=True)
class Pool:
    """Everything a vote reads of its candidates.

    `has_suite` tells whether any test passed twice on the base.
    """

    candidates: tuple[Candidate, ...]
    evidence: Mapping[str, Evidence]
    reproductions: tuple[Reproduced, ...]
    exclusions: tuple[Exclusion, ...]
    has_suite: bool


def ballot_of(
    pool: Pool,
    config: RunConfig,
    contest: Contest | None = None,
    table: Calibration | None = None,
) -> Ballot:
    """The ballot over a pool under a run's settings; `table` changes no more than what is said."""
    return vote(
        pool.candidates,
        pool.evidence,
        pool.reproductions,
        has_suite=pool.has_suite,
        require_tests=config.require_tests,
        rule=config.vote,
        contest=contest,
        table=table,
    )


def calibration_in(noted: Json) -> Calibration | None:
    """The calibration in what a run noted of its set-up, None when it had none."""
    found = (noted or {}).get("calibration")
    return None if found is None else from_json(Calibration, found)
