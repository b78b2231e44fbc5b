"""Whose report a test command can leave."""

import re

from sandbox.base import SuiteRunner

_RUNNERS: tuple[tuple[str, SuiteRunner], ...] = (
    (r"\bpy\.?test\b", "pytest"),
    (r"-m unittest\b", "unittest"),
    (r"\bmocha\b", "mocha"),
    (r"\bjest\b", "jest"),
    (r"\bvitest\b", "vitest"),
    (r"\btape\b", "tape"),
    (r"\bnode\b.*--test\b", "node"),
    (r"\bgo test\b", "go"),
    (r"\bcargo\b.*\btest\b", "cargo"),
    (r"\b(mvnw?|gradlew?)\b", "surefire"),
)


def recognise_runner(test: str) -> SuiteRunner:
    """The runner a command calls; "exit_code" when none is known."""
    return next((runner for sign, runner in _RUNNERS if re.search(sign, test)), "exit_code")
