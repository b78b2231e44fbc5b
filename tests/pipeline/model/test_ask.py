"""A verdict is valid, repaired or an error, never something else."""

from typing import Any

import pytest

from emulator.model.scripted import call, say
from pipeline.errors import MalformedAnswer, PromptTooLong
from pipeline.model.ask import ask
from pipeline.model.verdicts import RankVerdict
from pipeline.prompts.render import Prompt
from pipeline.services import CallAddress
from tests.fakes import MemoryBudget, scripted_model

AT = CallAddress("local", "L1.1", "rank")
PROMPT = Prompt("rank", "system", "rank it")
GOOD = [call("answer", order=[1, 0])]
BAD = [call("answer", order="first")]


async def rank(answers: list[Any], **options: Any) -> tuple[RankVerdict, MemoryBudget]:
    """Ask for a ranking; the answers come at rank, rank.fix1, rank.fix2."""
    names = ["rank", "rank.fix1", "rank.fix2"]
    script = {f"local/L1.1/{n}": a for n, a in zip(names, answers, strict=False)}
    budget = MemoryBudget()
    async with scripted_model(script, budget) as model:
        verdict = await ask(model, AT, PROMPT, RankVerdict, **options)
    return verdict, budget


async def test_a_valid_answer_costs_one_call() -> None:
    """The dataclass comes back."""
    verdict, budget = await rank([GOOD])
    assert verdict == RankVerdict((1, 0))
    assert len(budget.reserved) == 1


@pytest.mark.parametrize(
    "bad",
    [
        BAD,
        [say("1, then 0")],
        [],
        [call("answer", order=[1], why="x")],
        [call("reply", order=[1])],
        [call("answer", order=[1]), call("answer", order=[0])],
        {"content": GOOD, "stop_reason": "max_tokens"},
    ],
)
async def test_an_invalid_answer_is_repaired(bad: Any) -> None:
    """It is sent back with what is wrong, at an address of its own."""
    verdict, budget = await rank([bad, GOOD])
    assert verdict == RankVerdict((1, 0))
    assert [address for address, _ in budget.reserved] == [
        "local/L1.1/rank",
        "local/L1.1/rank.fix1",
    ]


async def test_an_answer_that_cannot_be_read_is_asked_for_anew() -> None:
    """Half a character in it: there is nothing to send back, so the question is put again."""
    broken = [call("answer", order="\ud800")]
    verdict, budget = await rank([broken, GOOD])
    assert verdict == RankVerdict((1, 0))
    assert len(budget.settled) == 2
    with pytest.raises(MalformedAnswer):
        await rank([broken, broken, broken])


async def test_after_two_repairs_it_is_an_error() -> None:
    """The message names the call and the problem."""
    with pytest.raises(MalformedAnswer, match=r"local/L1\.1/rank .* order: Input should be"):
        await rank([BAD, BAD, BAD])


async def test_an_answer_that_was_cut_off_gets_more_room_once() -> None:
    """The repair may be twice as long; the one after it starts as the first did."""
    cut = {"content": GOOD, "stop_reason": "max_tokens"}
    _, budget = await rank([cut, BAD, GOOD])
    first, second, third = [usd for _, usd in budget.reserved]
    assert second > 1.5 * first
    assert third < second


async def test_a_question_too_long_for_the_model_is_not_sent_back() -> None:
    """A repair would be longer still, so it ends after one call."""
    full = {"content": [], "stop_reason": "model_context_window_exceeded"}
    with pytest.raises(PromptTooLong, match=r"local/L1\.1/rank"):
        await rank([full])


async def test_a_rule_beyond_the_schema_is_checked() -> None:
    """What `check` says goes back to the model."""

    def whole(verdict: RankVerdict) -> str | None:
        return None if len(verdict.order) == 2 else "Name every step."

    verdict, _ = await rank([[call("answer", order=[1])], GOOD], check=whole)
    assert verdict == RankVerdict((1, 0))
