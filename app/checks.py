"""One line of `prism doctor` and what stands below it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One part: `problem` is "" when it works, else what is wrong and what to do.

    `notes` are sentences about a part that works: weak points and what is not covered.
    """

    name: str
    found: str
    problem: str = ""
    notes: tuple[str, ...] = ()


class Problem(Exception):
    """A part does not work; the message is for people."""
