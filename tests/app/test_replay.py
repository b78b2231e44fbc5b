"""A recorded run is decided again without a model, and played again with none but its record."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.demo.processes import child_environment
from app.ledger.items import SqlJournal
from app.ledger.records import recording
from app.ledger.runs import Claim
from app.replay import CANNOT, DIFFERENT, SAME, replay_run
from app.settings import Settings, SettingsError
from emulator.model.recorded import load_any
from emulator.model.server import create_app
from emulator.serving import serving
from pipeline.journal import read_events
from pipeline.recording import recorded
from tests import small

KEY = "sk-key-of-the-test"


@dataclass(frozen=True)
class Recorded:
    """A run that `prism fix --record` wrote down, and the patch it chose."""

    folder: Path
    record: Path
    patch: str


def fix(folder: Path, model_url: str, record: Path) -> str:
    """`prism fix --record` on the small repository; the patch."""
    settings = {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model_url,
        "PRISM_DATA_DIR": str(folder / "data"),
        "PRISM_SANDBOX": "process",
        "PRISM_EFFORT": "lean",
    }
    argv = [sys.executable, "-m", "app.cli", "fix", "--repo", str(folder / "calc")]
    argv += ["--issue", str(folder / "issue.md"), "--record", str(record)]
    ran = subprocess.run(
        argv,
        env=child_environment(settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """One recorded run for the module."""
    folder = tmp_path_factory.mktemp("recorded")
    repository = small.write_files(folder / "calc")
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        subprocess.run(["git", *who, *command], cwd=repository, check=True)
    (folder / "issue.md").write_text(f"# {small.TITLE}\n\n{small.BODY}\n")
    with serving(create_app(small.script())) as url:
        patch = fix(folder, url, folder / "run.jsonl")
    return Recorded(folder, folder / "run.jsonl", patch)


def test_a_recording_played_by_the_emulator_is_the_same_run(run: Recorded) -> None:
    """The same calls get the same answers, and the same patch comes out of a fresh start."""
    with serving(create_app(load_any(run.record))) as url:
        assert fix(run.folder, url, run.folder / "again.jsonl") == run.patch
    first, second = (
        {
            each.address: each.data["reply"]
            for each in recorded(read_events((run.folder / name).read_text()))
            if each.kind == "call"
        }
        for name in ("run.jsonl", "again.jsonl")
    )
    assert first == second
    assert len(first) > 30


def test_a_recording_holds_calls_tools_and_no_key(run: Recorded) -> None:
    """Requests can be read as they were put; tool results stand beside the calls they answer."""
    text = run.record.read_text()
    assert KEY not in text
    assert run.record.stat().st_mode & 0o077 == 0
    records = list(recorded(read_events(text)))
    calls = {each.address: each.data for each in records if each.kind == "call"}
    tools = [each for each in records if each.kind == "tool"]
    request = calls["code/S1/1"]
    assert request["messages"][0]["role"] == "user"
    assert small.TITLE in json.dumps(request["messages"])
    assert {"view", "edit", "submit"} <= {tool["name"] for tool in request["tools"]}
    assert {each.address for each in tools} <= calls.keys()
    shown = {each.data["id"]: each.data["observation"] for each in tools}
    sent = {
        block["tool_use_id"]: block["content"]
        for message in calls["code/S1/3"]["messages"]
        for block in message["content"]
        if block["type"] == "tool_result"
    }
    assert sent
    assert {name: shown[name] for name in sent} == sent


def replayed(capsys: pytest.CaptureFixture[str], named: str, **settings: Path) -> tuple[int, str]:
    """Exit code and output of `prism replay`."""
    code = replay_run(Settings(**settings), named, None)  # type: ignore[arg-type] # paths only
    return code, capsys.readouterr().out


def test_the_same_winner_is_exit_code_0(run: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    """The ballot is printed; no model, no engine and no repository is needed."""
    code, output = replayed(capsys, str(run.record))
    assert code == SAME
    assert "3 candidates, evidence about 3" in output
    assert "A  3 votes  S1, S2, S3" in output
    assert "The recorded run has the same winner." in output


def test_another_winner_is_exit_code_1(
    run: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Evidence that was changed afterwards shows."""
    path = tmp_path / "changed.jsonl"
    text = run.record.read_text()
    for name in ("S1", "S2", "S3"):
        text = text.replace(f'"candidate":"{name}","policy":{{"refused":[]', _refused(name))
    path.write_text(text)
    code, output = replayed(capsys, str(path))
    assert code == DIFFERENT
    assert "Winner: nobody" in output
    assert "recorded is S" in output


def _refused(name: str) -> str:
    return f'"candidate":"{name}","policy":{{"refused":["changed"]'


def test_a_run_stopped_half_way_is_exit_code_2(
    run: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What there is is shown, and what is missing said."""
    lines = run.record.read_text().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if '"finish","item":"verify/S1"' in line)
    path = tmp_path / "half.jsonl"
    path.write_text("".join(lines[: end + 1]))
    code, output = replayed(capsys, str(path))
    assert code == CANNOT
    assert "There is no evidence about S2, S3." in output
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
    run: Recorded, ledger: AsyncEngine, claim: Claim, tmp_path: Path
) -> None:
    """From its tables the same decision, and a file that the emulator plays."""
    journal = SqlJournal(ledger, claim.run.id, claim.epoch)
    text = run.record.read_text()
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
    ask: Callable[[], int] = lambda: replay_run(  # noqa: E731 - for the thread
        Settings(data_dir=tmp_path), claim.run.id, exported
    )
    assert await asyncio.to_thread(ask) == SAME
    assert load_any(exported) == load_any(run.record)
    assert replay_run_of(exported) == SAME


def replay_run_of(path: Path) -> int:
    """Exit code of a replay of a file."""
    return replay_run(Settings(), str(path), None)
