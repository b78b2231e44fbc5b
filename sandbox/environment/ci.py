"""`run` lines of CI workflows: how a repository's own CI tests it. Read, never fetched or run."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

from sandbox.base import Source
from sandbox.environment.declared.script import LINE_LIMIT, convert
from sandbox.environment.declared.workflow import Step, job_steps, jobs
from sandbox.environment.detect.tox import plain_command
from sandbox.environment.documents import plain_yaml, read_text, texts
from sandbox.environment.python_version import IMAGE_PYTHON

_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_FILE_LIMIT = 20
_LINE_LIMIT = 400
_TESTS: tuple[tuple[str, int], ...] = (
    (r"\bpy\.?test\b", 10),
    (r"\bgo test\b|\bcargo (test|nextest run)\b", 10),
    (r"\bmvnw?\b.*\b(test|verify)\b|\bgradlew?\b.*\b(test|check)\b", 10),
    (r"\brspec\b|\bphpunit\b|\bctest\b|\brake (test|spec)\b", 10),
    (r"\b(npm|yarn|pnpm) (run )?test\S*", 9),
    (r"-m unittest\b|\bmanage\.py test\b|\bruntests\.py\b", 9),
    (r"\b(mocha|jest|vitest|ava)\b|\bnode\b.*--test\b", 8),
    (r"\bmake (-\S+ )*(test|check)\b", 6),
)
# They make environments of their own, with a network that tests do not have.
_OWN_ENVIRONMENTS = re.compile(r"\b(tox|nox|hatch|pre-commit|docker|act)\b")
_NO_COMMAND = re.compile(r"\b(pip|npm|apt(-get)?|brew|uv pip) (ci|install|i)\b|\becho\b|^#")
_NOT_TESTS = re.compile(r"lint|docs?\b|release|publish|deploy|coverage|benchmark|nightly|windows")


@dataclass(frozen=True, slots=True)
class CiRun:
    """The line CI most likely tests with, and what the same job installed by pip before."""

    origin: str
    test: str
    installs: tuple[str, ...] = ()


async def read_ci(source: Source, files: tuple[str, ...]) -> CiRun | None:
    """The best test line of all jobs that pushes and pull requests start; None without one.

    Lines are scored by what they call; between equal ones the first job counts.
    """
    best: tuple[int, CiRun] | None = None
    for path in [one for one in files if _WORKFLOW.fullmatch(one)][:_FILE_LIMIT]:
        workflow = plain_yaml(await read_text(source, path))
        if not _on_changes(workflow):
            continue
        for score, found in _candidates(path, workflow):
            if best is None or score > best[0]:
                best = score, found
    return best[1] if best else None


def _on_changes(workflow: Mapping[str, Any]) -> bool:
    events = workflow.get("on")
    names = set(events) if isinstance(events, dict) else set(texts(events))
    return bool(names & {"push", "pull_request"})


def _candidates(path: str, workflow: Mapping[str, Any]) -> Iterator[tuple[int, CiRun]]:
    for name, job in jobs(workflow):
        installs: list[str] = []
        off_topic = bool(_NOT_TESTS.search(f"{path.rsplit('/', 1)[-1]} {name}".lower()))
        for step in job_steps(workflow, job, IMAGE_PYTHON):
            for raw in step.run.splitlines()[:_LINE_LIMIT]:
                line = raw.strip() if len(raw) <= LINE_LIMIT else ""
                if re.match(r"(python3? -m )?pip3? install\b", line):
                    installs += [line] if convert(line).line == line else []
                score = _score(line)
                if score:
                    test = _in_place(step, plain_command(line))
                    yield score - 5 * off_topic, CiRun(path, test, tuple(installs))


def _score(line: str) -> int:
    if _NO_COMMAND.search(line) or _OWN_ENVIRONMENTS.search(line) or line.endswith("\\"):
        return 0
    return next((score for sign, score in _TESTS if re.search(sign, line)), 0)


def _in_place(step: Step, line: str) -> str:
    env = "".join(f"{name}={quote(value)} " for name, value in step.env)
    folder = step.directory if step.directory not in ("", ".") else ""
    return f"cd {quote(folder)} && {env}{line}" if folder else env + line
