"""The account of a run: what is ours, what twelve agents alone would send."""

import pytest

from bench.cost_account import Call, account, by_stage, critical_path, read_calls

MODEL = "claude-sonnet-4-6"  # 0.1 to read, 1.25 to write, 2 for an hour


def made(stage: str, item: str, turn: str, fresh: int, written: int = 0, read: int = 0) -> Call:
    """A call with this input."""
    return Call(stage, item, turn, MODEL, fresh, written, 0, read, 10)


CALLS = [
    made("global", "G1", "0", 100, 1000),
    made("global", "G1", "r1.0", 100, 200, 1000),
    made("global", "G1", "contrast", 500),
    made("local", "L1.1", "rank", 300),
    made("local", "L1.1", "0", 50, 0, 1000),
    made("synthesis", "S1", "completeness", 70),
    made("synthesis", "S1", "risk", 70),
    made("synthesis", "S1", "judge", 70),
    made("code", "G1", "0", 0, 400),
    made("code", "L1.1", "0", 0, 100, 400),
    made("code", "L1.1", "1", 0, 100, 500),
]


def test_an_agent_alone_makes_the_turns_its_branch_kept() -> None:
    """Verdicts are not charged to it, kept turns are sent once more, everything in full."""
    found = account(CALLS, {"L1.1": ("G1", 1)})
    kept = 1100
    assert found.alone == 1100 + 1300 + 1050 + 400 + 500 + 600 + kept
    assert found.alone_calls == 7
    assert found.script == found.alone + 500 + 300 + 210
    assert found.billed == pytest.approx(
        100 + 1250 + 100 + 250 + 100 + 500 + 300 + 50 + 100 + 210 + 500 + 125 + 40 + 125 + 50
    )
    assert found.cached_share == pytest.approx(2900 / found.input)


def test_the_longest_chain_is_found() -> None:
    """Globals follow each other, reviews stand side by side, coders as places allow."""
    assert critical_path(CALLS, 12) == 3 + 2 + 2 + 2
    assert critical_path(CALLS, 1) == 3 + 2 + 2 + 3


def test_the_log_is_read_and_split() -> None:
    """Answered calls only; agents and verdicts of a stage are apart."""
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_creation": {"ephemeral_1h_input_tokens": 2, "ephemeral_5m_input_tokens": 0},
        "cache_read_input_tokens": 3,
        "output_tokens": 4,
    }
    entry = {"status": 200, "address": "global/G1/0", "model": MODEL, "usage": usage}
    (call,) = read_calls([{**entry, "status": 529}, entry])
    assert (call.input, call.billed) == (6, pytest.approx(1 + 4 + 0.3))
    assert set(by_stage(CALLS)) == {
        *("global agents", "global verdicts", "local agents", "local verdicts"),
        *("synthesis verdicts", "code agents"),
    }
