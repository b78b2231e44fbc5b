"""How far a choice may be trusted, from agreement that is independent, and from evidence. Pure.

Source: choosing.md §6 and §9. On published agents a change that three lineages made was right in
three of four cases, one that two made in two of five, any other in one of five. These are bands
and no percentages until outcomes of this installation are known.
"""

from collections.abc import Mapping, Sequence

from pipeline.choose.calibration import Calibration, probability
from pipeline.choose.lineage import effective, independent
from pipeline.values import Band, Confidence

_BANDS: tuple[Band, ...] = ("weak", "fair", "strong")


def confidence(
    agreeing: Sequence[str],
    lineages: Mapping[str, Sequence[str]],
    *,
    valid: int,
    total: int,
    tested: bool,
    table: Calibration | None = None,
) -> Confidence:
    """The confidence in a change that the candidates `agreeing` made, all of them valid.

    `table` is a calibration on outcomes of this installation; without one there is no probability.
    """
    owned = [tuple(lineages.get(name, (name,))) for name in agreeing]
    count, eff = independent(owned), effective(owned)
    said = None if table is None else probability(table, eff, valid / total if total else 0.0)
    return Confidence(
        band=band(count, valid, total, tested=tested),
        lineages=count,
        agreeing=len(agreeing),
        valid=valid,
        total=total,
        eff=round(eff, 6),
        tested=tested,
        probability=said,
        outcomes=table.outcomes if table is not None else 0,
    )


def band(lineages: int, valid: int, total: int, *, tested: bool) -> Band:
    """Three lineages are strong, two fair, one is weak.

    A pool of which less than half is valid is one step less to be trusted; a change that tests
    speak for is one step more.
    """
    step = min(lineages, 3) - 1
    if 2 * valid < total:
        step -= 1
    if tested:
        step += 1
    return _BANDS[max(0, min(step, 2))]
