"""Confidence and early stopping on pools with known outcome, by the product's own functions."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from statistics import mean

from bench.vote_pool import Voter
from bench.vote_rules import Pool, Rule, best, right, scores, soft
from pipeline.choose.calibration import SHIPPED, Calibration, Outcome, fit, probability
from pipeline.choose.lineage import effective, independent

FOLDS = 5
SURE = (10, 20, 30, 50)
Draws = Mapping[str, Sequence[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Choice:
    """One chosen patch: its instance, what its confidence is made of, and whether it was right."""

    instance: str
    eff: float
    valid_share: float
    score: float
    right: float  # a tie is right in part
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Percent for `surest`; `ece` with the ends of its 90 % bootstrap interval over instances."""

    ece: float
    ece_interval: tuple[float, float]
    brier: float
    brier_constant: float
    auroc: float
    surest: Mapping[str, float]


def choices(pools: Sequence[Pool], draws: Draws) -> list[Choice]:
    """What the product's vote chooses in every draw; a draw without a valid patch is wrong."""
    return [_choice(pool, numbers) for pool in pools for numbers in draws[pool.instance.name]]


def _choice(pool: Pool, numbers: Sequence[int]) -> Choice:
    voters = pool.valid(numbers)
    if not voters:
        return Choice(pool.instance.name, 0.0, 0.0, 0.0, 0.0)
    found = scores(pool, voters)
    chances = best(found)
    known = pool.instance.voters
    # of tied changes the one that fewer lines, then the lowest number, put first
    winner = known[min(chances, key=lambda number: (known[number].lines, number))]
    agreeing = [pool.lineage(each) for each in voters if each.edit.key == winner.edit.key]
    return Choice(
        pool.instance.name,
        effective(agreeing),
        len(voters) / len(numbers),
        found[winner.number],
        right(pool.instance, chances),
    )


def out_of_fold(found: Sequence[Choice]) -> list[Choice]:
    """Probabilities from a fit on the other four fifths of the instances."""
    told = []
    for fold in range(FOLDS):
        others = [each for each in found if _fold(each.instance) != fold]
        table = _fitted(others)
        told += [
            replace(each, probability=probability(table, each.eff, each.valid_share))
            for each in found
            if _fold(each.instance) == fold
        ]
    return told


def _fold(instance: str) -> int:
    return int(sha256(instance.encode()).hexdigest(), 16) % FOLDS


def _fitted(found: Sequence[Choice]) -> Calibration:
    """The product's fit; of very many draws every k-th, in a fixed order: it needs no more."""
    outcomes = [Outcome(e.eff, e.valid_share, e.right >= 0.5) for e in found if e.valid_share]
    outcomes = outcomes[:: max(1, len(outcomes) // 800)]
    return fit(outcomes, SHIPPED)


def calibrated(told: Sequence[Choice]) -> Calibrated:
    """How well the probabilities of `out_of_fold` hold."""
    base = mean(each.right for each in told)
    dice = random.Random(0)
    by_instance: dict[str, list[Choice]] = {}
    for each in told:
        by_instance.setdefault(each.instance, []).append(each)
    names = sorted(by_instance)
    again = sorted(
        _ece([each for name in dice.choices(names, k=len(names)) for each in by_instance[name]])
        for _ in range(200)
    )
    order = sorted(told, key=lambda e: (-e.probability, -e.score, e.instance))
    return Calibrated(
        ece=_ece(told),
        ece_interval=(again[10], again[-11]),
        brier=mean((each.probability - each.right) ** 2 for each in told),
        brier_constant=mean((base - each.right) ** 2 for each in told),
        auroc=_auroc(told),
        surest={
            str(share): 100 * mean(e.right for e in order[: max(1, len(order) * share // 100)])
            for share in SURE
        },
    )


def _ece(told: Sequence[Choice]) -> float:
    """Mean distance of what was said and what was, over ten bins of the same width."""
    bins: dict[int, list[Choice]] = {}
    for each in told:
        bins.setdefault(min(9, int(each.probability * 10)), []).append(each)
    gaps = (
        len(group) * abs(mean(e.probability for e in group) - mean(e.right for e in group))
        for group in bins.values()
    )
    return sum(gaps) / len(told)


def _auroc(told: Sequence[Choice]) -> float:
    """The chance that a right choice was trusted more than a wrong one; ties are half."""
    order = sorted(told, key=lambda each: each.probability)
    won = wrong_before = rights = wrongs = 0.0
    at = 0
    while at < len(order):
        end = at
        while end < len(order) and order[end].probability == order[at].probability:
            end += 1
        good = sum(each.right for each in order[at:end])
        bad = (end - at) - good
        won += good * (wrong_before + bad / 2)
        wrong_before, rights, wrongs, at = wrong_before + bad, rights + good, wrongs + bad, end
    return won / (rights * wrongs) if rights and wrongs else 0.5


@dataclass(frozen=True, slots=True)
class Stopped:
    """Candidates used and percent resolved when stopping as soon as two lineages agree."""

    used: float
    resolved: float
    whole: float


def stopping(pools: Sequence[Pool], draws: Draws) -> Stopped:
    """Candidates in the order of `dealt`; the product's vote is held over what was seen."""
    used, resolved, whole = [], [], []
    for pool in pools:
        several = draws[pool.instance.name]
        for number, drawn in enumerate(several):
            order = dealt(pool.instance.name, number, drawn)
            stop = _agreed(pool, order)
            used.append(stop / len(order) * 12)
            share = 1 / len(several)
            resolved.append(share * resolved_by(soft, pool, order[:stop]))
            whole.append(share * resolved_by(soft, pool, order))
    count = len(pools)
    return Stopped(mean(used), 100 * sum(resolved) / count, 100 * sum(whole) / count)


def _agreed(pool: Pool, order: Sequence[int]) -> int:
    """How many candidates are seen until the chosen change has two lineages.

    So the product stops where no test could tell more (`pipeline.choose.settle`).
    """
    seen: dict[str, list[Voter]] = {}
    for count, number in enumerate(order, 1):
        voter = pool.instance.voters[number]
        if not voter.valid:
            continue
        seen.setdefault(voter.edit.key, []).append(voter)
        agreed = [group for group in seen.values() if independent(map(pool.lineage, group)) > 1]
        chosen = soft(pool, pool.valid(order[:count])) if agreed else {}
        if any(each.number in chosen for group in agreed for each in group):
            return count
    return len(order)


def resolved_by(rule: Rule, pool: Pool, numbers: Sequence[int]) -> float:
    """How likely a rule's choice among some candidates is right; 0 where none is valid."""
    voters = pool.valid(numbers)
    return right(pool.instance, rule(pool, voters)) if voters else 0.0


def first_of(draws: Draws, count: int) -> dict[str, list[list[int]]]:
    """The first candidates of each draw, in the order of `dealt`."""
    return {
        name: [dealt(name, number, drawn)[:count] for number, drawn in enumerate(several)]
        for name, several in draws.items()
    }


def dealt(name: str, number: int, drawn: Sequence[int]) -> list[int]:
    """The candidates of an instance's draw in an order by lot, always the same."""
    order = sorted(drawn)
    random.Random(f"0/{name}/{number}").shuffle(order)
    return order


def shuffled(pool: Pool, seed: int) -> Pool:
    """The same pool with its source letters dealt anew."""
    numbers = sorted(pool.instance.voters)
    letters = [pool.instance.voters[number].source for number in numbers]
    random.Random(f"{seed}/{pool.instance.name}").shuffle(letters)
    return replace(pool, letters=dict(zip(numbers, letters, strict=True)))
