"""Patterns from anybody end soon, on names that are made to be slow."""

import time

import pytest

from pipeline.index.search.patterns import harmless

NAMES = ("a" * 200, "aA_1" * 50, "ab" * 100)


@pytest.mark.parametrize(
    "pattern",
    [
        "a?" * 25 + "a" * 25 + "[bc]",
        "(?:a|a)" * 24 + "[bc]",
        "(a|a|a|a)" * 12 + "[bc]",
        "[a-z]*[a-z]*[a-z]*[0-9]",
        "(?:a?){30}b",
        "(a*)*b",
        "(a+)+b",
        "a*?a*?a*?a*?b",
        "(?:a{0,50}){0,50}b",
        "a{0,90}a{0,90}a{0,90}b",
        "(?:a|aa)" * 10 + "(?:a|aa)" * 10 + "$b",
        ".*.*x",
        "[a-z]*_[a-z]+x",
        "(?:a?|b?)a?a?a?a?.*x",
        "get_.*_by_.*",
    ],
)
def test_a_pattern_is_refused_or_quick(pattern: str) -> None:
    """Whatever is let through looks at a long name for less than a second, at load and all."""
    found = harmless(pattern)
    if found is not None:
        start = time.process_time()
        for name in NAMES:
            found.search(name)
        assert time.process_time() - start < 1.0


@pytest.mark.parametrize(
    "pattern", ["get_.*_by_.*", "^test_.*", "(?:get|set)_.*", "colou?r", r"A\.b"]
)
def test_what_people_write_is_let_through(pattern: str) -> None:
    """Two wildcards, an alternative, an optional letter, a scope."""
    assert harmless(pattern) is not None
