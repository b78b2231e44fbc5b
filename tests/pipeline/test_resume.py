"""Golden test 13: stopped after any event, a run resumes, decides the same, repeats nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from emulator.model.recorded import script_of
from pipeline.choose.calibration import Calibration, probability
from pipeline.errors import NothingToReplay
from pipeline.journal import read_events
from pipeline.recording import recorded
from pipeline.replay import replay, stored_in
from pipeline.services import Json
from pipeline.values import Decision
from tests import small
from tests.fakes import emulated_model
from tests.recorded import CONFIG, Desk, opened

TABLE = Calibration(-1.0, 0.5, 1.0, 83)
LATER = Calibration(2.0, 0.1, 0.1, 84)
NOTED = '"finish","item":"environment/environment"'
Whole = tuple[Decision, list[str]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The tiny repository."""
    with opened(tmp_path_factory.mktemp("desk")) as found:
        yield found


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A model with the script in which half of the candidates are right."""
    with emulated_model(small.script()) as found:
        yield found


@pytest.fixture(scope="module")
def whole(desk: Desk, url: str, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """A run that nobody stopped, and the lines of its journal."""
    path = tmp_path_factory.mktemp("journal") / "run.jsonl"
    decision = desk.run(path, url, TABLE)
    return decision, path.read_text().splitlines(keepends=True)


def resumed(desk: Desk, url: str, whole: Whole, cut: int, path: Path) -> None:
    """Resume after `cut` lines and half of the next one; then everything is as it was.

    Outcomes that came meanwhile change nothing.
    """
    wanted, lines = whole
    half = lines[cut][: len(lines[cut]) // 2] if cut < len(lines) else ""
    path.write_text("".join(lines[:cut]) + half)
    began = any(NOTED in line for line in lines[:cut])
    decision = desk.run(path, url, LATER if began else TABLE)
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
    desk: Desk, url: str, whole: Whole, share: float, tmp_path: Path
) -> None:
    """While it codes, while it verifies; the line that was being written is half."""
    resumed(desk, url, whole, int(len(whole[1]) * share), tmp_path / "run.jsonl")


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_run_stopped_after_any_event_resumes(
    desk: Desk, url: str, whole: Whole, tmp_path: Path
) -> None:
    """After each line of the journal there is."""
    for cut in range(len(whole[1]) + 1):
        resumed(desk, url, whole, cut, tmp_path / f"{cut}.jsonl")


def test_a_recording_played_again_is_the_same_run(desk: Desk, whole: Whole, tmp_path: Path) -> None:
    """From a fresh start with no model but the record: the same answers, the same decision."""
    decision, lines = whole
    with emulated_model(script_of("".join(lines))) as url:
        again = desk.run(tmp_path / "again.jsonl", url, TABLE)
    assert again.ballot == decision.ballot
    assert again.patch == decision.patch
    text = (tmp_path / "again.jsonl").read_text()
    assert answers(text) == answers("".join(lines))


def answers(text: str) -> dict[str, Json]:
    """What the model said, by address."""
    found = recorded(read_events(text))
    return {each.address: each.data["reply"] for each in found if each.kind == "call"}


def test_a_fork_sends_its_parents_bytes(whole: Whole) -> None:
    """Golden test 14, on the whole run: tools, system and prefix are those of the parent's call."""
    calls = {
        each.address: each.data
        for each in recorded(read_events("".join(whole[1])))
        if each.kind == "call"
    }
    fork, parent = calls["local/L1.1/0"], calls["global/G1/3"]
    assert json.dumps([fork["tools"], fork["system"]]) == json.dumps(
        [parent["tools"], parent["system"]]
    )
    branch, trunk = blocks(fork), blocks(parent)
    shared = next(n for n, (a, b) in enumerate(zip(branch, trunk, strict=False)) if a != b)
    own = branch[shared:]
    assert shared > 3
    assert all('"type": "text"' in block for block in own), "only the new order is not shared"
    assert len(own) <= 2


def blocks(data: Json) -> list[str]:
    """The bytes of a call's messages, block by block."""
    said: list[Any] = [block for each in data["messages"] for block in each["content"]]
    return [json.dumps(block) for block in said]


def test_a_recording_holds_calls_and_tool_results(whole: Whole) -> None:
    """Requests can be read as they were put; tool results stand beside the calls they answer."""
    records = list(recorded(read_events("".join(whole[1]))))
    calls = {each.address: each.data for each in records if each.kind == "call"}
    tools = [each for each in records if each.kind == "tool"]
    request = calls["code/S1/1"]
    assert small.TITLE in json.dumps(request["messages"][0])
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


def test_a_replay_reaches_the_same_winner(whole: Whole) -> None:
    """From the items alone: candidates, evidence and ballot are those of the decision.

    With the probability that it told, from the calibration that the run was given.
    """
    decision, lines = whole
    again = replay(stored_in(read_events("".join(lines))))
    assert again.same_winner
    assert again.ballot == decision.ballot == again.recorded
    assert again.pool.candidates == decision.candidates
    assert again.pool.evidence == decision.evidence
    assert again.pool.has_suite
    assert again.config == CONFIG
    assert (again.missing, again.differences) == ((), ())
    trust = again.ballot.confidence
    assert trust is not None
    assert trust.probability == probability(TABLE, trust.eff, trust.valid / trust.total)
    assert trust.outcomes == TABLE.outcomes


def test_a_replay_of_any_beginning_says_what_is_missing(
    whole: Whole,
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


def test_a_changed_journal_is_noticed(whole: Whole) -> None:
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
