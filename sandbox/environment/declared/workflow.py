"""GitHub workflows read as data: jobs, steps, literal expressions. Nothing is fetched or run."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.environment.documents import table, texts

STEP_LIMIT = 100
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_NAME = re.compile(r"(matrix|env)\.([\w-]+)(?:\.([\w-]+))?")
_LITERAL = re.compile(r"'([^']*)'")
# Conditions under which a step of a plain Linux run is carried out.
_ALWAYS = re.compile(
    r"(\$\{\{)?\s*(always\(\)|success\(\)|!cancelled\(\)|true|runner\.os\s*==\s*'Linux'"
    r"|runner\.os\s*!=\s*'(Windows|macOS)')\s*(\}\})?"
)
_RUNNER_FILES = re.compile(r"GITHUB_(ENV|PATH|OUTPUT|STATE|TOKEN)|GH_TOKEN")


class NotLiteral(Exception):
    """An expression whose value is only known to GitHub; the text says which."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a script or an action, its expanded variables, and why it must be left out."""

    name: str
    run: str = ""
    uses: str = ""
    options: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    skipped: str = ""


def job_steps(workflow: Mapping[str, Any], job: Mapping[str, Any], python: str) -> list[Step]:
    """The job's steps in order, with literal matrix and env values filled in.

    `python` is the version of the image: the nearest of a matrix's is taken.
    """
    values = {"matrix": matrix_values(job, python), "env": dict(job_env(workflow, job))}
    defaults = {**table(workflow, "defaults", "run"), **table(job, "defaults", "run")}
    listed = job.get("steps")
    steps = listed[:STEP_LIMIT] if isinstance(listed, list) else []
    return [_step(step, values, defaults) for step in steps if isinstance(step, dict)]


def job_env(workflow: Mapping[str, Any], job: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Literal variables of the workflow and the job; others are left out."""
    return _literal_env({**table(workflow, "env"), **table(job, "env")}, {})[0]


def matrix_values(job: Mapping[str, Any], python: str) -> dict[str, str]:
    """One literal value per matrix key: the nearest Python version, else the first."""
    matrix = table(job, "strategy", "matrix")
    values: dict[str, str] = {}
    for key, listed in matrix.items():
        choices = [x for x in texts(listed) if "${{" not in x]
        if choices:
            values[key] = nearest(choices, python) if "py" in key.lower() else choices[0]
    include = matrix.get("include")
    rows = [row for row in include if isinstance(row, dict)] if isinstance(include, list) else []
    row = next((row for row in rows if _fits(row, values)), {})
    return values | {k: v for k, v in row.items() if isinstance(v, str) and k not in values}


def nearest(versions: list[str], version: str) -> str:
    """The choice closest to `version` (major.minor); the last one when none is a version."""
    wanted = _number(version)
    rated = [(abs(_number(one) - wanted), i) for i, one in enumerate(versions) if _number(one)]
    return versions[min(rated)[1]] if rated else versions[-1]


def _number(version: str) -> int:
    match = re.fullmatch(r"(?:py|python-?|cpython-?)?(\d{1,3})\.(\d{1,3})(\.\d+)?", version)
    return int(match[1]) * 1000 + int(match[2]) if match else 0


def _fits(row: Mapping[str, Any], values: Mapping[str, str]) -> bool:
    operating = row.get("os", "ubuntu")
    return (
        isinstance(operating, str)
        and "ubuntu" in operating
        and all(values[key] == content for key, content in row.items() if key in values)
    )


def _step(
    step: Mapping[str, Any], values: Mapping[str, Mapping[str, str]], defaults: Mapping[str, Any]
) -> Step:
    name = next((x for x in texts([step.get(k) for k in ("name", "uses", "run")])), "a step")
    name = " ".join(name.split())[:80]
    condition = step.get("if", "")
    if not isinstance(condition, str) or (condition and not _ALWAYS.fullmatch(condition.strip())):
        return Step(name, skipped="runs on a condition only")
    try:
        return _readable(name, step, values, defaults)
    except NotLiteral as error:
        return Step(name, skipped=f"uses {error}, which only GitHub knows")


def _readable(
    name: str,
    step: Mapping[str, Any],
    values: Mapping[str, Mapping[str, str]],
    defaults: Mapping[str, Any],
) -> Step:
    env, left_out = _literal_env(table(step, "env"), values)
    if left_out:
        raise NotLiteral(f"`{left_out[0]}`")
    values = {**values, "env": {**values.get("env", {}), **dict(env)}}
    shell = step.get("shell", defaults.get("shell", "bash"))
    run = expand(_text(step.get("run")), values)
    if run and not (isinstance(shell, str) and shell.split()[:1] in (["bash"], ["sh"])):
        return Step(name, skipped="is for another shell than bash")
    if _RUNNER_FILES.search(run):
        return Step(name, skipped="talks to GitHub's runner")
    with_ = table(step, "with")
    options = tuple((k, v) for k, v in with_.items() if isinstance(v, str))
    return Step(
        name=name,
        run=run,
        uses=_text(step.get("uses")),
        options=options,
        env=env,
        directory=expand(
            _text(step.get("working-directory", defaults.get("working-directory"))), values
        ),
    )


def _literal_env(
    env: Mapping[str, Any], values: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    pairs, left_out = [], []
    for name, content in env.items():
        if not isinstance(content, str) or not re.fullmatch(r"[A-Za-z_]\w*", str(name)):
            continue
        try:
            pairs.append((name, expand(content, values)))
        except NotLiteral as error:
            left_out.append(str(error))
    return tuple(pairs), left_out


def expand(text: str, values: Mapping[str, Mapping[str, str]]) -> str:
    """Fill in `${{ matrix.x }}`, `${{ env.X }}` and quoted text; raises NotLiteral otherwise."""
    return _EXPRESSION.sub(lambda match: _value(match[1], values), text)


def _value(expression: str, values: Mapping[str, Mapping[str, str]]) -> str:
    literal = _LITERAL.fullmatch(expression)
    if literal:
        return literal[1]
    name = _NAME.fullmatch(expression)
    found = values.get(name[1], {}).get(name[2]) if name and name[3] is None else None
    if found is None:
        raise NotLiteral(expression[:60])
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def jobs(workflow: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Names and bodies of the jobs, in the file's order."""
    for name, job in table(workflow, "jobs").items():
        if isinstance(job, dict):
            yield str(name), job
