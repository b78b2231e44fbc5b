"""`prism outcomes`: what people made of the pull requests, and what confidence makes of that."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import click

from app.ledger import outcomes
from app.ledger.engine import open_ledger
from app.ledger.errors import LedgerError
from app.ledger.migrate import require_migrated
from app.ledger.outcomes import MOST, Known
from app.settings import Settings, SettingsError
from pipeline.choose.calibration import MIN_OUTCOMES, Outcome, calibrate, held_out

BANDS = ("strong", "fair", "weak")


@dataclass(frozen=True, slots=True)
class Counts:
    """How pull requests ended; `merged` is as they were delivered, `edited` after changes."""

    merged: int
    edited: int
    closed: int
    open: int

    @property
    def ended(self) -> int:
        """Those of which it is known what people made of them."""
        return self.merged + self.edited + self.closed


@dataclass(frozen=True, slots=True)
class InForce:
    """The calibration that runs are given; `brier` is of outcomes it was not made of.

    `is_share` tells that agreement said no more than the plain share of right ones, which is
    shown instead; `plain_brier` is what that comes to.
    """

    outcomes: int
    brier: float
    plain_brier: float
    is_share: bool


@dataclass(frozen=True, slots=True)
class Report:
    """One installation. `in_force` is None with too few outcomes."""

    installation_id: int
    account: str
    counts: Counts
    bands: dict[str, Counts]
    in_force: InForce | None


async def show_outcomes(settings: Settings, *, as_json: bool) -> int:
    """Print a part for each installation with pull requests; 0. Raises SettingsError."""
    if not settings.has_database:
        raise SettingsError(
            f"There is no ledger in {settings.data_dir}. Set PRISM_DATA_DIR or DATABASE_URL as "
            "the worker has it."
        )
    engine = open_ledger(settings.database)
    try:
        await require_migrated(engine)
        known = await outcomes.list_all(engine)
    except LedgerError as error:
        raise SettingsError(str(error)) from error
    finally:
        await engine.dispose()
    reports = reports_of(known)
    if as_json:
        click.echo(json.dumps({"installations": [asdict(each) for each in reports]}, indent=2))
    else:
        click.echo("\n\n".join(map(told, reports)) or "No pull request was delivered yet.")
    return 0


def reports_of(known: Sequence[Known]) -> list[Report]:
    """The rows by installation, as `list_all` orders them."""
    return [
        _report(list(rows)) for _, rows in groupby(known, key=lambda each: each.installation_id)
    ]


def told(report: Report) -> str:
    """A report in plain text."""
    counts = report.counts
    lines = [
        f"{report.account or 'installation'} ({report.installation_id}): {counts.merged} merged "
        f"as delivered, {counts.edited} merged after changes, {counts.closed} closed, "
        f"{counts.open} open",
    ]
    for band, each in report.bands.items():
        if each.ended:
            share = f"{each.merged / each.ended:.0%}"
            lines.append(f"  {band:6}  {each.merged} of {each.ended} merged as delivered ({share})")
    return "\n".join([*lines, f"  {_calibration(report)}"])


def _calibration(report: Report) -> str:
    now = report.in_force
    if now is None:
        left = f"{report.counts.ended} of {MIN_OUTCOMES} pull requests have ended"
        return f"Confidence is told in bands: {left}."
    against = f"Brier {now.brier:.3f} against {now.plain_brier:.3f} of the plain share"
    if now.is_share:
        return f"The plain share is shown: agreement says no more ({against})."
    return f"A percentage is shown, made of the last {now.outcomes} ({against})."


def _report(rows: list[Known]) -> Report:
    said = [each.said for each in rows if each.how != "open"][:MOST]
    return Report(
        rows[0].installation_id,
        rows[0].account,
        _counts(rows),
        {band: _counts([each for each in rows if each.band == band]) for band in BANDS},
        _in_force(said),
    )


def _counts(rows: list[Known]) -> Counts:
    counted = Counter(each.how for each in rows)
    return Counts(**{name: counted[name] for name in ("merged", "edited", "closed", "open")})


def _in_force(said: list[Outcome]) -> InForce | None:
    if calibrate(said) is None:
        return None
    fitted, plain = held_out(said)
    return InForce(len(said), fitted, plain, is_share=fitted >= plain)
