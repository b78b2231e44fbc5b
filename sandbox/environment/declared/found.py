"""What one place in a repository says about its set-up."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Declared:
    """Set-up lines somebody wrote down, with their surroundings; `origin` is the file.

    `notes` tell what was seen there and left out, one sentence each.
    """

    origin: str
    setup: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
