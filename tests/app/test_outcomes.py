"""From pull requests that people merged to a percentage in the next one, and what operators see."""

import asyncio
import json
import random
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from app.demo.processes import child_environment
from app.ledger.engine import insert_into, open_ledger, writing
from app.ledger.outcomes import How, Known
from app.ledger.tables import outcome, run, snapshot
from app.outcomes import BANDS, reports_of, told
from app.replay import SAME, replay_run
from app.settings import Settings
from pipeline.choose.calibration import MIN_OUTCOMES, Outcome
from tests import small
from tests.installation import Prism, installed

ENDED = 60


async def test_outcomes_become_a_percentage_and_the_next_one_counts(tmp_path: Path) -> None:
    """With sixty known the pull request tells one, the replay tells the same; merged, it is one
    more."""
    async with installed(tmp_path, small.script()) as prism:
        await have_ended(prism)
        prism.label()
        run_ = await prism.ended()
        (pull,) = prism.pulls
        assert f" % by this installation's last {ENDED} pull requests.**" in pull.body
        code = await asyncio.to_thread(replay_run, Settings(data_dir=prism.data), run_.id, None)
        assert code == SAME
        assert (await counts(prism))["open"] == 1
        prism.hub.merge_pull(prism.repository, pull.number)

        async def noted() -> bool:
            return (await counts(prism))["open"] == 0

        await prism.until(noted)
        assert await counts(prism) == {"merged": 41, "edited": 0, "closed": 20, "open": 0}


async def have_ended(prism: Prism) -> None:
    """Sixty pull requests of other issues: who agreed was merged, who did not was closed."""
    of = {"installation_id": prism.installation.id, "repository_id": prism.repository.id}
    engine = open_ledger(f"sqlite+aiosqlite:///{prism.data / 'prism.db'}")
    async with writing(engine) as conn:
        text = {"title": "t", "body": "", "author": "ann", "author_id": 5, "sha256": "0" * 64}
        await conn.execute(
            insert_into(conn, snapshot).values(
                id="s-0", installation_id=of["installation_id"], removed=[], taken_at=0.0, **text
            )
        )
        for n in range(ENDED):
            is_right = n % 3 > 0
            await conn.execute(
                run.insert().values(
                    id=f"r-{n}",
                    **of,
                    repository="acme/calc",
                    issue_number=100 + n,
                    generation=1,
                    branch=f"prism/issue-{100 + n}",
                    snapshot_id="s-0",
                    requested_by="ann",
                    requested_by_id=5,
                    state="done",
                    budget_usd=1.0,
                    created_at=0.0,
                )
            )
            await conn.execute(
                outcome.insert().values(
                    run_id=f"r-{n}",
                    **of,
                    pull_number=1000 + n,
                    head_commit="a" * 40,
                    delivered_at=0.0,
                    band="strong" if is_right else "weak",
                    lineages=3 if is_right else 1,
                    agreeing=3 if is_right else 1,
                    valid=10,
                    total=12,
                    eff=3.0 if is_right else 1.0,
                    tested=True,
                    choice={},
                    outcome="merged" if is_right else "closed",
                    ended_at=float(n),
                )
            )
    await engine.dispose()


async def counts(prism: Prism) -> dict[str, int]:
    """What `prism outcomes --json` counts."""
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "app.cli", "outcomes", "--json"],
        env=child_environment({"PRISM_DATA_DIR": str(prism.data)}),
        capture_output=True,
        check=True,
    )
    (found,) = json.loads(ended.stdout)["installations"]
    counted: dict[str, int] = found["counts"]
    return counted


def known(how: How, band: str = "strong", eff: float = 3.0, installation: int = 7) -> Known:
    """A row."""
    return Known(installation, "acme", band, how, Outcome(eff, 0.9, how == "merged"))


def test_before_fifty_there_are_counts_and_bands() -> None:
    """What is still open does not count, and one merged after changes was not right."""
    rows = [known("merged"), known("edited"), known("closed", "weak"), known("open", "fair")]
    (report,) = reports_of(rows)
    assert told(report).splitlines() == [
        "acme (7): 1 merged as delivered, 1 merged after changes, 1 closed, 1 open",
        "  strong  1 of 2 merged as delivered (50%)",
        "  weak    0 of 1 merged as delivered (0%)",
        "  Confidence is told in bands: 3 of 50 pull requests have ended.",
    ]


def test_after_fifty_a_percentage_is_shown() -> None:
    """Where agreement told right from wrong."""
    rows = [known("merged") if n % 3 else known("closed", eff=1.0) for n in range(ENDED)]
    (report,) = reports_of(rows)
    assert report.in_force is not None
    assert report.in_force.brier < report.in_force.plain_brier
    assert f"A percentage is shown, made of the last {ENDED} (Brier 0.0" in told(report)


def test_where_agreement_says_nothing_the_plain_share_is_shown() -> None:
    """On outcomes it was not made of, the fit loses; both errors are told."""
    dice = random.Random(14)
    drawn = [(dice.uniform(1, 4), dice.random(), dice.random()) for _ in range(ENDED)]
    rows = [known("merged" if at < 0.6 else "closed", eff=eff) for eff, _, at in drawn]
    (report,) = reports_of(rows)
    assert report.in_force is not None
    assert report.in_force.is_share
    assert "The plain share is shown: agreement says no more (Brier 0.2" in told(report)


def test_each_installation_has_its_own() -> None:
    """One organisation's outcomes say nothing of another's."""
    rows = [known("merged", installation=n // 40) for n in range(80)]
    assert [each.counts.merged for each in reports_of(rows)] == [40, 40]
    assert [each.in_force for each in reports_of(rows)] == [None, None]


rows_of = st.lists(
    st.builds(
        known, st.sampled_from(["merged", "edited", "closed", "open"]), st.sampled_from(BANDS)
    ),
    min_size=1,
    max_size=70,
)


@given(rows_of)
def test_bands_add_up(rows: list[Known]) -> None:
    """Each row is counted once, and once in its band."""
    (report,) = reports_of(rows)
    assert report.counts.ended + report.counts.open == len(rows)
    assert sum(each.ended for each in report.bands.values()) == report.counts.ended
    assert (report.in_force is not None) == (report.counts.ended >= MIN_OUTCOMES)
