"""The two files of an evaluation survive a kill after any byte."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.evaluate.results import Lines, Result, result_row, results_in, summary
from app.settings import SettingsError

NAMES = ("acme__calc-1", "acme__calc-2", "acme__calc-3")


def result(name: str, outcome: str = "patch") -> Result:
    """A row of results.jsonl."""
    won = outcome == "patch"
    return Result(
        *(name, outcome, "S1" if won else "", "fair" if won else "", 6 if won else 0),
        *(12, 4, 0.5, 100, "6 of 12."),
    )


@given(st.integers(0, 10_000))
def test_half_a_row_is_taken_away(tmp_path_factory: pytest.TempPathFactory, at: int) -> None:
    """Whole rows stay, and the next one is not glued to the half."""
    path = tmp_path_factory.mktemp("predictions") / "predictions.jsonl"
    whole = "".join(json.dumps({"instance_id": name, "x": "ä"}) + "\n" for name in NAMES).encode()
    path.write_bytes(whole[: at % (len(whole) + 1)])
    lines = Lines(path)
    kept = list(lines.rows)
    assert kept == list(NAMES[: len(kept)])
    lines.add({"instance_id": "next"})
    assert list(Lines(path).rows) == [*kept, "next"]
    assert all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("text", ["# Notes\n", "[]\n", "{}\n", '{"instance_id": ["a"]}\n'])
def test_a_file_of_something_else_is_not_written_into(tmp_path: Path, text: str) -> None:
    """A mistyped name must not cost a file."""
    path = tmp_path / "predictions.jsonl"
    path.write_text(text)
    with pytest.raises(SettingsError, match="line 1"):
        Lines(path)
    assert path.read_text() == text


def test_the_summary_tells_patches_cost_and_agreement(tmp_path: Path) -> None:
    """Results are read back from the file; what was not run is listed."""
    lines = Lines(tmp_path / "results.jsonl")
    for each in (result("a"), result("b"), result("c", "no_patch")):
        lines.add(result_row(each))
    again = results_in(Lines(tmp_path / "results.jsonl"))
    assert again == (result("a"), result("b"), result("c", "no_patch"))
    text = summary(again, 3, ["d: It has no text in repo."])
    assert "3 predictions, 2 with a patch and 1 without one." in text
    assert "$1.50 in 300 model calls, $0.500 an instance" in text
    assert "Confidence fair: 2" in text
    assert "50% of the candidates made the winning change, 4.0 different changes" in text
    assert "Not run: d: It has no text in repo." in text
    assert summary((), 0, ()).startswith("0 predictions")
