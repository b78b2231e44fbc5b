"""What the set-up agent hands in, and the plan it becomes."""

import posixpath
import re
from dataclasses import dataclass, replace
from typing import Literal

from sandbox.base import EnvironmentPlan, SuiteRunner
from sandbox.environment.recognise import recognise_runner

AGENT_ORIGIN = "set-up agent"
MAX_LINES = 30
MAX_LINE = 2000
MAX_PACKAGES = 40

_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,80}")
# Commands that say nothing about the repository, whatever they return.
_EMPTY_COMMANDS = frozenset({"true", ":", "exit", "echo", "printf", "sleep", "cd", "pwd", "ls"})


@dataclass(frozen=True, slots=True)
class SetupSpec:
    """Input of `submit_setup`. `setup` lines run in order with network, `test` without.

    `packages` are Debian packages, `directory` the folder all lines run in ("" = the root).
    `runner` names whose report tells single tests; "auto" recognises it from the test line.
    """

    setup: tuple[str, ...]
    test: str
    runner: SuiteRunner | Literal["auto"] = "auto"
    packages: tuple[str, ...] = ()
    directory: str = ""


def plan_of(spec: SetupSpec, detected: EnvironmentPlan) -> EnvironmentPlan:
    """The plan of a spec; language, image, variables and hosts stay as they were detected."""
    test = spec.test.strip()
    return replace(
        detected,
        setup=tuple(line.strip() for line in spec.setup if line.strip()),
        test=test,
        runner=recognise_runner(test) if spec.runner == "auto" else spec.runner,
        packages=spec.packages,
        directory=_normal(spec.directory),
        origin=AGENT_ORIGIN,
        notes=(),
    )


def problem_of(spec: SetupSpec) -> str:
    """What is wrong with a spec before anything is run, in one sentence; "" when nothing is."""
    lines = (*spec.setup, spec.test)
    bad = [name for name in spec.packages if not _PACKAGE.fullmatch(name)]
    problems = (
        (not spec.test.strip(), "`test` is empty: hand in the command that runs the tests."),
        (_is_empty(spec.test), "`test` has to run the repository's own tests."),
        (len(spec.setup) > MAX_LINES, f"`setup` has more than {MAX_LINES} lines."),
        (any(len(line) > MAX_LINE for line in lines), f"A line is longer than {MAX_LINE}."),
        (any("\0" in line for line in lines), "A line holds a NUL character."),
        (len(spec.packages) > MAX_PACKAGES, f"More than {MAX_PACKAGES} packages."),
        (bool(bad), f"`packages` holds {bad[:1]}, which is no name of a Debian package."),
        (_leads_out(spec.directory), "`directory` has to be a folder inside the repository."),
    )
    return next((text for is_wrong, text in problems if is_wrong), "")


def _is_empty(test: str) -> bool:
    """Whether every command of the line is one that says nothing about the repository."""
    commands = [part.split() for part in re.split(r"&&|\|\||[;|\n]", test)]
    return all(words[0] in _EMPTY_COMMANDS for words in commands if words)


def _normal(directory: str) -> str:
    normal = posixpath.normpath(directory.strip() or ".")
    return "" if normal == "." else normal


def _leads_out(directory: str) -> bool:
    normal = _normal(directory)
    first = normal.split("/", 1)[0]
    return normal.startswith("/") or first in {"..", ".git"} or "\0" in normal or "\n" in normal
