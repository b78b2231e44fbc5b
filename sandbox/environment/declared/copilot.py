"""`.github/workflows/copilot-setup-steps.yml`: steps a maintainer wrote for coding agents."""

import re
from collections.abc import Mapping
from shlex import quote

from sandbox.base import Source
from sandbox.environment.config import is_inside
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.script import convert
from sandbox.environment.declared.workflow import Step, job_env, job_steps
from sandbox.environment.documents import plain_yaml, read_text, table
from sandbox.environment.python_version import IMAGE_PYTHON
from sandbox.environment.tools import install_node_tool, install_python_tool

PATHS = (
    ".github/workflows/copilot-setup-steps.yml",
    ".github/workflows/copilot-setup-steps.yaml",
)
JOB = "copilot-setup-steps"
# Actions that provide what the image has, or that a sandbox has no use for.
_NOTHING = frozenset(
    {"actions/checkout", "actions/cache", "actions/cache/restore", "actions/upload-artifact"}
)
_LANGUAGES = {
    "actions/setup-python": ("Python", "python-version"),
    "actions/setup-node": ("Node.js", "node-version"),
    "actions/setup-go": ("Go", "go-version"),
    "actions/setup-java": ("Java", "java-version"),
}
_TOOLS: Mapping[str, str] = {
    "astral-sh/setup-uv": install_python_tool("uv"),
    "snok/install-poetry": install_python_tool("poetry"),
    "pdm-project/setup-pdm": install_python_tool("pdm"),
    "pnpm/action-setup": install_node_tool("pnpm"),
}


async def declared_by_copilot(source: Source, files: tuple[str, ...]) -> Declared | None:
    """The `run` steps of the job in order; None without such a file or job.

    A step that needs a secret, a value only GitHub knows or an action outside the fixed list is
    left out, and a note says so.
    """
    path = next((one for one in PATHS if one in files), "")
    if not path:
        return None
    workflow = plain_yaml(await read_text(source, path))
    job = table(workflow, "jobs", JOB)
    if not job:
        return Declared(path, notes=(f"{path} has no readable job `{JOB}`.",))
    lines: list[str] = []
    packages: list[str] = []
    notes: list[str] = []
    for step in job_steps(workflow, job, IMAGE_PYTHON):
        line, apt, note = _step(step)
        lines += [line] if line else []
        packages += apt
        notes += [f"{path}: {note}."] if note else []
    return Declared(
        origin=path,
        setup=tuple(lines),
        packages=tuple(dict.fromkeys(packages)),
        variables=job_env(workflow, job),
        notes=tuple(notes),
    )


def _step(step: Step) -> tuple[str, tuple[str, ...], str]:
    """A step's line, its Debian packages, and what to say about it."""
    if step.skipped:
        return "", (), f"step `{step.name}` was left out: it {step.skipped}"
    if step.uses:
        line, note = _action(step)
        return line, (), note
    converted = convert(step.run)
    note = converted.note and f"step `{step.name}` was left out: it {converted.note}"
    if not converted.line:
        return "", converted.packages, note
    if not is_inside(step.directory) or step.directory.startswith("/"):
        return "", (), f"step `{step.name}` was left out: it works outside the repository"
    exports = [f"export {name}={quote(value)}" for name, value in step.env]
    folder = [f"cd {quote(step.directory)}"] if step.directory not in ("", ".") else []
    body = converted.line.removeprefix("set -e\n")
    if not exports and not folder:
        return converted.line, converted.packages, note
    return "\n".join(["set -e", *exports, *folder, body]), converted.packages, note


def _action(step: Step) -> tuple[str, str]:
    """The line that stands for an action, and what to say about it."""
    name = re.sub(r"@.*", "", step.uses).strip().lower()
    if name in _NOTHING:
        return "", ""
    if name in _TOOLS:
        return _TOOLS[name], ""
    if name in _LANGUAGES:
        language, option = _LANGUAGES[name]
        version = dict(step.options).get(option, "")
        return "", f"asks for {language} {version}; the image's is used" if version else ""
    return "", f"step `{step.name}` was left out: the action {name[:80]} is not known"
