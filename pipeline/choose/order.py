"""The order of candidate ids. Pure."""

import re

_STAGES = {"G": 0, "L": 1, "S": 2}

Place = tuple[int, tuple[int, ...], str]


def natural(candidate: str) -> Place:
    """Sort key of candidate ids: global before local before synthesis, then by number.

    G1 < G2 < G10 < L1.1 < L1.2 < S1; any other id comes last, by its text.
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", candidate, re.ASCII))
    return _STAGES.get(candidate[:1], len(_STAGES)), numbers, candidate
