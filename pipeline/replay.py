"""Decide again from what a journal holds: no model, no container, the same pure vote. Pure.

A run's decision is recorded with its inputs; here the inputs are put together from the items they
came from, compared with what the decision says they were, and voted on once more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from pipeline.ballot import Pool, ballot_of, calibration_in
from pipeline.choose.order import natural
from pipeline.contest.tally import is_decided
from pipeline.errors import NothingToReplay
from pipeline.jsonable import from_json, to_json
from pipeline.services import Json, RunConfig
from pipeline.values import (
    Ballot,
    Candidate,
    Contest,
    ContestVote,
    Decision,
    Evidence,
    Exclusion,
    Reproduced,
)


@dataclass(slots=True)
class Stored:
    """Items of a run by `stage/item`: outputs in the order they were finished, and open ones."""

    outputs: dict[str, Json] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replayed:
    """The ballot of today over what was stored.

    `recorded` is the run's own, None when it was stopped before. `missing` says what a whole run
    would have, `differences` where ballot or inputs are not the recorded ones.
    """

    pool: Pool
    config: RunConfig
    ballot: Ballot
    recorded: Ballot | None
    missing: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def same_winner(self) -> bool:
        """Whether the run's own decision was reached again."""
        return self.recorded is not None and self.recorded.winner == self.ballot.winner


def stored_in(events: Iterable[Mapping[str, Json]]) -> Stored:
    """The items in the events of a journal file."""
    stored, started = Stored(), dict[str, None]()
    for event in events:
        match event.get("event"):
            case "start":
                started[event["item"]] = None
            case "finish":
                stored.outputs[event["item"]] = event["output"]
    stored.unfinished = tuple(name for name in started if name not in stored.outputs)
    return stored


def replay(stored: Stored) -> Replayed:
    """Vote again over what is stored.

    Raises NothingToReplay when there is no candidate with evidence, or when an item cannot be
    read as what it should be.
    """
    try:
        config = _config(stored)
        pool, contest = _pool(stored), _contest(stored, config.contest_votes)
        table = calibration_in(_environment(stored))
        decision = _read(Decision, stored, "vote/decision")
    except (ValidationError, KeyError, TypeError) as error:
        first = str(error).splitlines()[0]
        raise NothingToReplay(f"The journal is not one of this version: {first}.") from error
    if not pool.candidates:
        raise NothingToReplay(
            f"No candidate has a patch yet. {' '.join(_missing(stored, pool, contest))}"
        )
    if not pool.evidence:
        raise NothingToReplay(
            f"No candidate was verified. {' '.join(_missing(stored, pool, contest))}"
        )
    ballot = ballot_of(pool, config, contest, table)
    if decision is None:
        return Replayed(pool, config, ballot, None, _missing(stored, pool, contest), ())
    said = _differences(pool, ballot, decision)
    return Replayed(pool, config, ballot, decision.ballot, (), said)


def _pool(stored: Stored) -> Pool:
    found = _items(stored, "code")
    candidates = [from_json(Candidate, output) for output in found.values()]
    checks = _items(stored, "verify")
    evidence = {
        output["candidate"]: from_json(Evidence, output)
        for output in checks.values()
        if "candidate" in output and "policy" in output
    }
    reproduced = [each for output in checks.values() for each in output.get("validated", ())]
    named = checks.get("verify/exclusions", {}).get("exclusions", ())
    environment = _environment(stored)
    ran = any(each.regression_ran for each in evidence.values())
    return Pool(
        tuple(sorted(candidates, key=lambda each: natural(each.id))),
        dict(sorted(evidence.items(), key=lambda entry: natural(entry[0]))),
        tuple({each["id"]: from_json(Reproduced, each) for each in reproduced}.values()),
        tuple(from_json(Exclusion, each) for each in named),
        environment.get("has_suite", ran),  # a journal of before says it only by its evidence
    )


def _config(stored: Stored) -> RunConfig:
    return from_json(RunConfig, _environment(stored).get("config", {}))


def _environment(stored: Stored) -> Json:
    """What the run noted once its repository was set up: the vote's settings are part of it."""
    return stored.outputs.get("environment/environment") or {}


def _contest(stored: Stored, most: int) -> Contest | None:
    """The selectors' votes in their order, None when none or not enough of them were asked."""
    prefix = "vote/contest:"
    votes = {
        int(name.removeprefix(prefix)): from_json(ContestVote, output)
        for name, output in _items(stored, "vote").items()
        if name.startswith(prefix)
    }
    ordered = tuple(vote for _, vote in sorted(votes.items()))
    is_over = is_decided(ordered, most) or "vote/decision" in stored.outputs
    return Contest(ordered) if ordered and is_over else None


def _items(stored: Stored, stage: str) -> dict[str, Json]:
    prefix = f"{stage}/"
    return {name: out for name, out in stored.outputs.items() if name.startswith(prefix)}


def _read(kind: type[Decision], stored: Stored, name: str) -> Decision | None:
    return from_json(kind, stored.outputs[name]) if name in stored.outputs else None


def _missing(stored: Stored, pool: Pool, contest: Contest | None) -> tuple[str, ...]:
    """What a run that was stopped half way does not have, in sentences."""
    said = [f"{name} was begun and not finished." for name in stored.unfinished]
    unverified = [each.id for each in pool.candidates if each.id not in pool.evidence]
    if "environment/environment" not in stored.outputs:
        said.append("The repository was not set up.")
    if pool.candidates and unverified:
        said.append(f"There is no evidence about {', '.join(unverified)}.")
    if any(name.startswith("vote/contest:") for name in stored.outputs) and contest is None:
        said.append("The contest of candidates in a tie is not over.")
    said.append("The run did not come to its decision.")
    return tuple(said)


def _differences(pool: Pool, ballot: Ballot, decision: Decision) -> tuple[str, ...]:
    """Where today's ballot, or the items it was made from, are not what the decision holds."""
    said = []
    before = {each.id: each for each in decision.candidates}
    for each in pool.candidates:
        if to_json(each) != to_json(before.get(each.id)):
            said.append(f"The candidate {each.id} is not the one that was voted on.")
        seen, then = pool.evidence.get(each.id), decision.evidence.get(each.id)
        if to_json(seen) != to_json(then):
            said.append(f"The evidence about {each.id} is not what was voted on.")
    said += [
        f"The candidate {name} was voted on, but has no item."
        for name in before.keys() - {each.id for each in pool.candidates}
    ]
    if decision.ballot.winner != ballot.winner:
        said.append(
            f"The winner is {ballot.winner or 'nobody'}; recorded is "
            f"{decision.ballot.winner or 'nobody'}."
        )
    elif to_json(decision.ballot) != to_json(ballot):
        said.append("The winner is the same, but gates, clusters or rule are not.")
    return tuple(said)
