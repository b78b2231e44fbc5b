"""What a script's end says to people."""

import pytest

from sandbox.errors import SandboxError
from sandbox.placing import check
from sandbox.runner import Outcome

OUTCOMES = [
    (Outcome(1, b"", b"why\n", 0.0), "why"),
    (Outcome(1, b"said", b"", 0.0), "said"),
    (Outcome(4, b" \n", b"", 0.0), "exit code 4"),
    (Outcome(None, b"", b"", 0.0), "it was ended"),
    (Outcome(None, b"x", b"", 0.0, timed_out=True), "it did not end in time"),
    (Outcome(None, b"x", b"", 0.0, flooded=True), "it printed without end"),
    (Outcome(None, b"", b"", 0.0, disk_limit=True), "it wrote more to the disk than it may"),
]


@pytest.mark.parametrize(("outcome", "reason"), OUTCOMES)
def test_a_failure_has_a_reason(outcome: Outcome, reason: str) -> None:
    """However little was said, no sentence ends where its reason should stand."""
    assert outcome.reason == reason
    with pytest.raises(SandboxError, match=f"while trying: {reason}$"):
        check("trying", outcome)
