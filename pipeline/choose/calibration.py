"""From agreement to a probability: the shipped formula, and one fitted to own outcomes. Pure.

Source: choosing.md §6 and §9. The shipped values were fitted to published agents; they do not
carry over to other ones, so they give bands and the start of a fit, never a percentage. What is
fitted to outcomes is shown beside a choice and takes no part in it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

MIN_OUTCOMES = 50
FOLDS = 5
SHRINKAGE = 4.0  # how many observations the values at the start are worth
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Calibration:
    """p = σ(intercept + eff · agreement + valid · share of valid candidates).

    `outcomes` counts what it was made of, 0 for the shipped values.
    """

    intercept: float
    eff: float
    valid: float
    outcomes: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a choice was made of and whether it was right (merged as it was)."""

    eff: float
    valid_share: float
    right: bool


SHIPPED = Calibration(intercept=-3.8, eff=0.59, valid=2.4)


def probability(table: Calibration, eff: float, valid_share: float) -> float:
    """How likely a choice is right by a calibration, strictly between 0 and 1."""
    return _sigma(table.intercept + table.eff * eff + table.valid * valid_share)


def calibrate(outcomes: Sequence[Outcome]) -> Calibration | None:
    """A calibration of this installation's own; None with fewer than 50 outcomes.

    Where it says no better than the share of right ones does, it is that share: by Brier, and on
    outcomes that it was not made of.
    """
    if len(outcomes) < MIN_OUTCOMES:
        return None
    fitted, plain = held_out(outcomes)
    return fit(outcomes) if fitted < plain else constant(outcomes)


def held_out(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Brier of a fit and of the plain share, each part of five judged by the other four."""
    errors = [0.0, 0.0]
    for part in range(FOLDS):
        asked = outcomes[part::FOLDS]
        others = [each for n, each in enumerate(outcomes) if n % FOLDS != part]
        for at, table in enumerate((fit(others), constant(others))):
            errors[at] += brier(table, asked) * len(asked)
    return errors[0] / max(1, len(outcomes)), errors[1] / max(1, len(outcomes))


def constant(outcomes: Sequence[Outcome]) -> Calibration:
    """The share of right ones, whatever the agreement; never 0 or 1."""
    share = (sum(each.right for each in outcomes) + 1) / (len(outcomes) + 2)
    return Calibration(log(share / (1 - share)), 0.0, 0.0, len(outcomes))


def brier(table: Calibration, outcomes: Iterable[Outcome]) -> float:
    """Mean squared error of the probabilities; 0 when there are no outcomes."""
    errors = [
        (probability(table, each.eff, each.valid_share) - each.right) ** 2 for each in outcomes
    ]
    return sum(errors) / len(errors) if errors else 0.0


def fit(outcomes: Sequence[Outcome], start: Calibration = SHIPPED) -> Calibration:
    """Logistic regression by Newton's method, its slopes shrunk towards `start`.

    The intercept is shrunk too, a hundred times less: base rates differ between installations.
    """
    prior = (start.intercept, start.eff, start.valid)
    pull = (SHRINKAGE / 100, SHRINKAGE, SHRINKAGE)
    now = list(prior)
    for _ in range(_ROUNDS):
        slope = [pull[i] * (prior[i] - now[i]) for i in range(3)]
        curve = [[pull[i] if i == j else 0.0 for j in range(3)] for i in range(3)]
        for each in outcomes:
            row = (1.0, each.eff, each.valid_share)
            said = _sigma(sum(a * b for a, b in zip(now, row, strict=True)))
            for i in range(3):
                slope[i] += (each.right - said) * row[i]
                for j in range(3):
                    curve[i][j] += said * (1 - said) * row[i] * row[j]
        change = _solved(curve, slope)
        step = min(1.0, 2.0 / max(1e-9, *map(abs, change)))  # never far at once
        now = [value + step * move for value, move in zip(now, change, strict=True)]
        if max(map(abs, change)) < 1e-8:
            break
    return Calibration(now[0], now[1], now[2], len(outcomes))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss' elimination; the matrix is positive definite, so no row is exchanged."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(3):
        for j in range(i + 1, 3):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    found = [0.0, 0.0, 0.0]
    for i in (2, 1, 0):
        rest = sum(rows[i][j] * found[j] for j in range(i + 1, 3))
        found[i] = (rows[i][3] - rest) / rows[i][i]
    return found


def _sigma(x: float) -> float:
    x = max(-30.0, min(30.0, x))
    return 1 / (1 + exp(-x))
