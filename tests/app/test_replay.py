"""A recorded run is decided again without a model, and played again with none but its record."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.ledger.items import SqlJournal
from app.ledger.records import recording
from app.ledger.runs import Claim
from app.replay import CANNOT, DIFFERENT, SAME, replay_run
from app.settings import Settings, SettingsError
from emulator.model.recorded import load_any
from pipeline.journal import read_events
from pipeline.recording import recorded
from tests import small
from tests.fakes import emulated_model
from tests.recorded import KEY, opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of one recorded run, for the module."""
    folder = tmp_path_factory.mktemp("recorded")
    with opened(folder) as desk, emulated_model(small.script()) as url:
        desk.run(folder / "run.jsonl", url)
    return folder / "run.jsonl"


def test_a_recording_is_its_owners_and_holds_no_key(run: Path) -> None:
    """It quotes the repository, and may be shown around otherwise."""
    assert KEY not in run.read_text()
    assert run.stat().st_mode & 0o077 == 0


def replayed(capsys: pytest.CaptureFixture[str], named: str, **settings: Path) -> tuple[int, str]:
    """Exit code and output of `prism replay`."""
    code = replay_run(Settings(**settings), named, None)  # type: ignore[arg-type] # paths only
    return code, capsys.readouterr().out


def test_the_same_winner_is_exit_code_0(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The ballot is printed; no model, no engine and no repository is needed."""
    code, output = replayed(capsys, str(run))
    assert code == SAME
    assert "3 candidates, evidence about 3" in output
    assert "A  1 votes  S1" in output
    assert "G1: It fails a reproduction of the bug" in output
    assert "The recorded run has the same winner." in output
    assert "\nCritical path: " in output


def test_another_winner_is_exit_code_1(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence that was changed afterwards shows."""
    path = tmp_path / "changed.jsonl"
    text = run.read_text()
    before = '"candidate":"S1","policy":{"refused":['
    assert before in text
    path.write_text(text.replace(before, before + '"changed"'))
    code, output = replayed(capsys, str(path))
    assert code == DIFFERENT
    assert "Winner: nobody" in output
    assert "recorded is S" in output


def test_a_run_stopped_half_way_is_exit_code_2(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What there is is shown, and what is missing said."""
    lines = run.read_text().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if '"finish","item":"verify/G1"' in line)
    path = tmp_path / "half.jsonl"
    path.write_text("".join(lines[: end + 1]))
    code, output = replayed(capsys, str(path))
    assert code == CANNOT
    assert "There is no evidence about " in output
    assert "The run did not come to its decision." in output


@pytest.mark.parametrize("content", ["", "no journal\n", '{"global/G1/0": []}', "[1]\n"])
def test_a_file_that_is_no_journal_is_named(tmp_path: Path, content: str) -> None:
    """Nor is a folder, nor a run that no ledger knows."""
    path = tmp_path / "file.jsonl"
    path.write_text(content)
    for named in (path, tmp_path, tmp_path / "r-none"):
        with pytest.raises(SettingsError, match=str(named)):
            replay_run(Settings(data_dir=tmp_path), str(named), None)
    assert not (tmp_path / "prism.db").exists()


async def test_a_run_of_the_ledger_is_replayed_and_exported(
    run: Path, ledger: AsyncEngine, claim: Claim, tmp_path: Path
) -> None:
    """From its tables the same decision, and a file that the emulator plays."""
    journal = SqlJournal(ledger, claim.run.id, claim.epoch)
    text = await asyncio.to_thread(run.read_text)
    for event in read_events(text):
        stage, _, name = event.get("item", "").partition("/")
        if event["event"] == "start":
            await journal.start(stage, name)  # type: ignore[arg-type] # as it was written
        elif event["event"] == "finish":
            await journal.finish(stage, name, event["output"])  # type: ignore[arg-type]
    async with recording(ledger, claim.run.id, claim.epoch, 10_000_000) as recorder:
        for each in recorded(read_events(text)):
            await recorder.record(each.kind, each.address, each.attempt, each.data)  # type: ignore[arg-type]
    exported = tmp_path / "exported.jsonl"
    settings = Settings(data_dir=tmp_path)
    assert await asyncio.to_thread(replay_run, settings, claim.run.id, exported) == SAME
    assert load_any(exported) == load_any(run)
    assert await asyncio.to_thread(replay_run, settings, str(exported), None) == SAME
