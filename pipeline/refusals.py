"""When a model declines the work, the run ends: the same question asked again is no way around."""

from collections.abc import Collection

from pipeline.errors import RunRefused

SHARE = 0.5


def require_willing(exits: Collection[str]) -> None:
    """Raise RunRefused when at least half of the samples ended as `refused`."""
    refused = sum(status == "refused" for status in exits)
    if exits and refused >= SHARE * len(exits):
        raise RunRefused(f"The model declined {refused} of {len(exits)} samples.")
