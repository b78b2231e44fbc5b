"""The journal and budget of the command line, over a real file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import BudgetExhausted
from pipeline.items import step
from pipeline.journal import JsonLinesJournal
from pipeline.services import CallAddress
from pipeline.values import Location, Usage

ADDRESS = CallAddress("global", "G1", "0")


async def test_a_finished_item_is_read_back_by_the_next_process(tmp_path: Path) -> None:
    """`step` does the work once; a second journal over the same file returns the output."""
    done: list[int] = []

    async def work(attempt: int) -> Location:
        done.append(attempt)
        return Location("a.py", why="here")

    for _ in range(2):
        journal = JsonLinesJournal(tmp_path / "run.jsonl", 1.0)
        assert await step(journal, "global", "G1", Location, work) == Location("a.py", why="here")
    assert done == [1]


async def test_an_item_in_flight_starts_again_as_the_next_attempt(tmp_path: Path) -> None:
    """An item that was started and not finished counts one attempt more."""
    await JsonLinesJournal(tmp_path / "run.jsonl", 1.0).start("global", "G1")
    record = await JsonLinesJournal(tmp_path / "run.jsonl", 1.0).start("global", "G1")
    assert (record.attempts, record.finished) == (2, False)


async def test_half_a_line_is_ignored(tmp_path: Path) -> None:
    """A process ended while it wrote leaves half a line; everything before it counts."""
    path = tmp_path / "run.jsonl"
    await JsonLinesJournal(path, 1.0).finish("global", "G1", {"a": 1})
    path.write_text(path.read_text() + '{"event": "fin')
    assert (await JsonLinesJournal(path, 1.0).start("global", "G1")).output == {"a": 1}


async def test_open_reservations_are_lost_at_their_worst_case(tmp_path: Path) -> None:
    """What was reserved when the process ended counts as spent for the next one."""
    path = tmp_path / "run.jsonl"
    await JsonLinesJournal(path, 1.0).reserve(ADDRESS, "h", 0.75)
    again = JsonLinesJournal(path, 1.0)
    assert (await again.spent()).cost_usd == 0.75
    with pytest.raises(BudgetExhausted, match=r"\$1\.00"):
        await again.reserve(ADDRESS, "h", 0.5)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.booleans()), max_size=30))
async def test_spent_and_open_never_pass_the_limit(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[float, float, bool]]
) -> None:
    """With honest worst cases the money spent and set aside stays within the budget."""
    journal = JsonLinesJournal(tmp_path_factory.mktemp("journal") / "run.jsonl", 2.0)
    held = 0.0
    for worst, part, settle in calls:
        try:
            handle = await journal.reserve(ADDRESS, "h", worst)
        except BudgetExhausted:
            continue
        if settle:
            await journal.settle(handle, Usage(calls=1, cost_usd=worst * part), "end_turn")
        else:
            held += worst
        assert (await journal.spent()).cost_usd + held <= 2.0 + 1e-9
