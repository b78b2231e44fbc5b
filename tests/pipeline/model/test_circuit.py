"""An open circuit stops what cannot work, and nothing else."""

import pytest

from pipeline.errors import BudgetExhausted, ModelUnavailable
from pipeline.model.circuit import Circuits


async def fail(circuits: Circuits, model: str, error: Exception) -> None:
    """A call that ends with the error."""
    with pytest.raises(type(error)):
        async with circuits.passing(model):
            raise error


async def test_work_begins_as_soon_as_one_model_may_be_tried() -> None:
    """The fallback stands in, so the earlier of the two trials counts, whoever has it."""
    now = 0.0
    circuits = Circuits(30.0, clock=lambda: now)
    await fail(circuits, "fallback", ModelUnavailable("down"))
    circuits.check("model", "fallback")
    now = 20.0
    await fail(circuits, "model", ModelUnavailable("down"))
    for names in (("model", "fallback"), ("fallback", "model")):
        with pytest.raises(ModelUnavailable) as caught:
            circuits.check(*names)
        assert caught.value.wait_s == 10.0
    now = 31.0
    circuits.check("model", "fallback")
    with pytest.raises(ModelUnavailable):
        circuits.check("model")


async def test_a_budget_that_is_used_up_says_nothing_about_the_provider() -> None:
    """A trial that ends so leaves the circuit open, and the next call tries."""
    now = 0.0
    circuits = Circuits(30.0, clock=lambda: now)
    await fail(circuits, "model", ModelUnavailable("down"))
    now = 31.0
    await fail(circuits, "model", BudgetExhausted(1.0, 1.0))
    await fail(circuits, "model", ModelUnavailable("down"))
    with pytest.raises(ModelUnavailable) as caught:
        circuits.check("model")
    assert caught.value.wait_s == 60.0
