"""The journal and budget of the command line, over a real file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import BudgetExhausted, JournalOfAnotherRun
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


async def test_what_follows_half_a_line_is_kept(tmp_path: Path) -> None:
    """The process that resumes may be ended, too: the third one sees what the second did."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"event": "finish", "output": "\xc3')
    await JsonLinesJournal(path, 1.0).finish("global", "G1", {"a": 1})
    assert (await JsonLinesJournal(path, 1.0).start("global", "G1")).output == {"a": 1}


@pytest.mark.parametrize("text", ["a\u2028b\x85c\x0cd", "a\udcffb", "ÄÖÜ 🐛"])
async def test_every_text_is_read_back(tmp_path: Path, text: str) -> None:
    """Other ends of lines, and bytes that are no UTF-8 as git's diffs may hold."""
    path = tmp_path / "run.jsonl"
    await JsonLinesJournal(path, 1.0).finish("code", "G1", {"patch": text})
    assert (await JsonLinesJournal(path, 1.0).start("code", "G1")).output == {"patch": text}


@pytest.mark.parametrize("content", ['{"event":"run","run":"fix-2"}\n', "# Issue\n", "[1]\n"])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, content: str) -> None:
    """Another run's results are not this one's, and a file that is no journal gets no line."""
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(JournalOfAnotherRun, match=r"run\.jsonl"):
        JsonLinesJournal(path, 1.0, "fix-1")
    assert path.read_text() == content


async def test_the_same_run_goes_on(tmp_path: Path) -> None:
    """The name is written once and fits the next time."""
    path = tmp_path / "run.jsonl"
    await JsonLinesJournal(path, 1.0, "fix-1").finish("global", "G1", {"a": 1})
    assert (await JsonLinesJournal(path, 1.0, "fix-1").start("global", "G1")).output == {"a": 1}


@pytest.mark.parametrize("at", [0, 1, 20, 29])
async def test_half_of_the_first_line_is_this_runs_journal(tmp_path: Path, at: int) -> None:
    """A process that was ended at once leaves a file that the next one can use."""
    path = tmp_path / "run.jsonl"
    path.write_text('{"event":"run","run":"fix-1"}\n'[:at])
    await JsonLinesJournal(path, 1.0, "fix-1").finish("global", "G1", {"a": 1})
    assert (await JsonLinesJournal(path, 1.0, "fix-1").start("global", "G1")).output == {"a": 1}


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
