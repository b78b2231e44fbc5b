"""Where a local exploration leaves its parent's trajectory: s* = argmin f. Pure.

Source: Prism, local exploration, f = g + h (method.md §2.3.3).
"""

from collections.abc import Collection, Mapping, Sequence

from pipeline.services import BranchWeights

# w_g and w_h: the paper adds both costs equally, the authors' code leans on convergence.
WEIGHTS: Mapping[BranchWeights, tuple[float, float]] = {"page": (1.0, 1.0), "code": (0.3, 0.7)}


def repair_order(order: Sequence[int], last: int) -> tuple[int, ...]:
    """A full permutation of 0…last: unknown and repeated indices go, missing ones are appended."""
    kept = list(dict.fromkeys(index for index in order if 0 <= index <= last))
    return (*kept, *(index for index in range(last + 1) if index not in kept))


def share_valid(order: Sequence[int], last: int) -> float:
    """How much of 0…last an answer really names; below half it is worth asking again."""
    return len({index for index in order if 0 <= index <= last}) / (last + 1)


def costs(
    order: Sequence[int], last: int, weight_context: float = 1.0, weight_convergence: float = 1.0
) -> tuple[float, ...]:
    """f of every step 0…last, from a permutation with the best branching point first.

    f(s_i) = w_g·(1 − i/L) + w_h·Rank(s_i)/L with the 0-based position as rank; `last` is L ≥ 1.
    """
    rank = {step: position for position, step in enumerate(repair_order(order, last))}
    return tuple(
        weight_context * (1 - step / last) + weight_convergence * rank[step] / last
        for step in range(last + 1)
    )


def branch_point(
    order: Sequence[int],
    last: int,
    used: Collection[int] = (),
    weight_context: float = 1.0,
    weight_convergence: float = 1.0,
) -> int | None:
    """The step to leave at: the prefix kept is s_0 … s_{s*−1}.

    Steps 1 … last−1 are eligible; None when there is none. Points in `used` are left out unless
    nothing else remains. Ties go to the earlier step, which has committed to less.
    """
    eligible = [step for step in range(1, last) if step not in used] or list(range(1, last))
    if not eligible:
        return None
    f = costs(order, last, weight_context, weight_convergence)
    return min(eligible, key=lambda step: (f[step], step))
