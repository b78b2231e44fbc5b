"""A run of which the model declines half is over."""

import pytest

from pipeline.errors import RunRefused
from pipeline.refusals import require_willing


@pytest.mark.parametrize("exits", [[], ["submitted"], ["refused", "submitted", "turns"]])
def test_less_than_half_is_a_sample_lost(exits: list[str]) -> None:
    """The others go on."""
    require_willing(exits)


@pytest.mark.parametrize("exits", [["refused"], ["refused", "submitted"], ["refused"] * 12])
def test_half_of_the_samples_end_the_run(exits: list[str]) -> None:
    """The message counts and echoes nothing."""
    with pytest.raises(RunRefused, match=r"^The model declined \d+ of \d+ samples\.$"):
        require_willing(exits)
