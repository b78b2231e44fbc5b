"""Golden test 13: stopped after any event, a run resumes, decides the same, repeats nothing."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.github.source import MirrorSource, local_source
from pipeline.errors import NothingToReplay
from pipeline.journal import JsonLinesJournal, read_events
from pipeline.model.gateway import AnthropicModel
from pipeline.replay import replay, stored_in
from pipeline.resolve import resolve
from pipeline.services import Json, PipelineStage, RunConfig, Services
from pipeline.values import Decision, Task
from sandbox.process import ProcessSandbox
from tests import small
from tests.fakes import emulated_model

# Five candidates: every stage and both kinds of prompt, in less than half of the time.
CONFIG = RunConfig(n_global=2, n_local=1, n_synthesis=1)


class Deaf:
    """A Progress that hears nothing."""

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        """Nothing."""


@dataclass(frozen=True)
class Desk:
    """A repository with its environment, and a scripted model; everything but the journal."""

    folder: Path
    source: MirrorSource
    url: str

    async def run(self, journal: Path) -> Decision:
        """One process's work on the run, recorded."""
        ledger = JsonLinesJournal(journal, 10.0, "run")
        task = Task("calc", 1, small.TITLE, small.BODY, self.source.base_commit)
        sandbox = ProcessSandbox(data_dir=self.folder, allow=True)
        async with AnthropicModel(
            "key", self.url, "claude-sonnet-4-6", "", ledger, "run", recorder=ledger
        ) as model:
            services = Services(
                "run", model, sandbox, self.source, ledger, ledger, Deaf(), CONFIG, recorder=ledger
            )
            return await resolve(task, services)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The tiny repository and the script in which half of the candidates are right."""
    folder = small.write_files(tmp_path_factory.mktemp("calc"))
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    with local_source(folder) as source, emulated_model(small.script()) as url:
        yield Desk(tmp_path_factory.mktemp("environments"), source, url)


@pytest.fixture(scope="module")
def whole(desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> tuple[Decision, list[str]]:
    """A run that nobody stopped, and the lines of its journal."""
    path = tmp_path_factory.mktemp("journal") / "run.jsonl"
    decision = asyncio.run(desk.run(path))
    return decision, path.read_text().splitlines(keepends=True)


def resumed(desk: Desk, whole: tuple[Decision, list[str]], cut: int, path: Path) -> None:
    """Resume after `cut` lines and half of the next one; then everything is as it was."""
    wanted, lines = whole
    half = lines[cut][: len(lines[cut]) // 2] if cut < len(lines) else ""
    path.write_text("".join(lines[:cut]) + half)
    decision = asyncio.run(desk.run(path))
    assert decision.ballot == wanted.ballot
    assert decision.patch == wanted.patch
    assert decision.evidence == wanted.evidence
    assert_nothing_repeated(list(read_events(path.read_text())))


def assert_nothing_repeated(events: list[Json]) -> None:
    """After an item is finished it is not started, and no call at one of its addresses is paid."""
    finished: set[str] = set()
    for event in events:
        name = event.get("item", "")
        assert name not in finished, f"{name} again: {event['event']}"
        if event["event"] == "finish":
            finished.add(name)
        if event["event"] == "reserve":
            stage, item, _ = event["address"].split("/")
            assert not {f"{stage}/{item}", f"{stage}/{stage}:{item}"} & finished


@pytest.mark.parametrize("share", [0.55, 0.93])
def test_a_run_stopped_somewhere_resumes(
    desk: Desk, whole: tuple[Decision, list[str]], share: float, tmp_path: Path
) -> None:
    """While it codes, while it verifies; the line that was being written is half."""
    resumed(desk, whole, int(len(whole[1]) * share), tmp_path / "run.jsonl")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_run_stopped_after_any_event_resumes(
    desk: Desk, whole: tuple[Decision, list[str]], tmp_path: Path
) -> None:
    """After each line of the journal there is."""
    for cut in range(len(whole[1]) + 1):
        resumed(desk, whole, cut, tmp_path / f"{cut}.jsonl")


def test_a_replay_reaches_the_same_winner(whole: tuple[Decision, list[str]]) -> None:
    """From the items alone: candidates, evidence and ballot are those of the decision."""
    decision, lines = whole
    again = replay(stored_in(read_events("".join(lines))))
    assert again.same_winner
    assert again.ballot == decision.ballot == again.recorded
    assert again.pool.candidates == decision.candidates
    assert again.pool.evidence == decision.evidence
    assert again.pool.has_suite
    assert again.pool.config == CONFIG
    assert (again.missing, again.differences) == ((), ())


def test_a_replay_of_any_beginning_says_what_is_missing(
    whole: tuple[Decision, list[str]],
) -> None:
    """It never fails otherwise, and never claims the winner of a run that has none."""
    decision, lines = whole
    begun = 0
    for cut in range(len(lines)):
        stored = stored_in(read_events("".join(lines[:cut])))
        if not any("policy" in output for output in stored.outputs.values()):
            with pytest.raises(NothingToReplay, match="The run did not come to its decision"):
                replay(stored)
            continue
        again, begun = replay(stored), begun + 1
        assert again.recorded is None
        assert not again.same_winner
        assert again.missing
        assert set(again.pool.evidence) <= {each.id for each in decision.candidates}
    assert begun > 1


def test_a_changed_journal_is_noticed(whole: tuple[Decision, list[str]]) -> None:
    """Evidence that somebody edited shows as another winner and as what differs."""
    decision, lines = whole
    changed = []
    for line in lines:
        event = json.loads(line)
        if event.get("item") == f"verify/{decision.ballot.winner}" and "output" in event:
            event["output"]["lost"] = ["test_calc.Zero.test_half_of_zero_is_zero"]
        changed.append(json.dumps(event))
    again = replay(stored_in(read_events("\n".join(changed))))
    assert not again.same_winner
    said = " ".join(again.differences)
    assert f"The evidence about {decision.ballot.winner} is not" in said
    assert f"recorded is {decision.ballot.winner}" in said
