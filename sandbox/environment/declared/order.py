"""The places in which maintainers write down how a repository is set up, in order."""

import posixpath
import re
from dataclasses import replace

from sandbox.base import Source
from sandbox.environment.declared.copilot import declared_by_copilot
from sandbox.environment.declared.devcontainer import declared_by_devcontainer
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.openhands import declared_by_script
from sandbox.environment.detect.node import lock_head
from sandbox.environment.detect.node_manager import choose_manager
from sandbox.environment.documents import read_json, read_text
from sandbox.environment.tools import install_node_tool, install_python_tool

_REQUIREMENTS = re.compile(r"\bpip3? install\b[^\n&;|]*?\s-r[ =]?([\w./-]+)")
_PYTHON_TOOLS = ("uv", "poetry", "pdm", "pipenv")
_NODE_TOOLS = ("pnpm", "yarn")
_TOOLS_ONLY = re.compile(
    r"true|cd\s.*|echo\s.*|set\s.*|export\s.*|git\s.*"
    r"|(?:python3? -m )?pip3?\s+install(?:\s+(?:-\S+|tox(?:-\w+)?|nox|pre-commit|pip|setuptools"
    r"|wheel|hatch|build|pipx|ruff|black|mypy))+"
)
_PLACES = (declared_by_copilot, declared_by_script, declared_by_devcontainer)


async def declared(source: Source, files: tuple[str, ...]) -> tuple[Declared, ...]:
    """What was said, up to and with the first place that has set-up lines.

    So only the last entry can have lines to use; those before it only left notes.
    """
    seen: list[Declared] = []
    for place in _PLACES:
        found = await place(source, files)
        if found is not None:
            found = _without_stale(_with_effect(found), files)
            found = await _with_tools(found, source, files)
            seen.append(found)
            if found.setup:
                break
    return tuple(seen)


def _with_effect(found: Declared) -> Declared:
    """No lines at all when they only install tools, not what the project needs."""
    steps = [one for line in found.setup for one in re.split(r"\n|&&|;", line) if one.strip()]
    if not steps or not all(_TOOLS_ONLY.fullmatch(step.strip()) for step in steps):
        return found
    note = f"{found.origin} was left out: it only installs tools."
    return replace(found, setup=(), notes=(*found.notes, note))


async def _with_tools(found: Declared, source: Source, files: tuple[str, ...]) -> Declared:
    """Managers that the lines call and their authors' machines had are installed before them."""
    text = "\n".join(found.setup)
    called = [tool for tool in (*_PYTHON_TOOLS, *_NODE_TOOLS) if _is_called(tool, text)]
    lines = [install_python_tool(tool) for tool in called if tool in _PYTHON_TOOLS]
    for tool in [one for one in called if one in _NODE_TOOLS]:
        package = read_json(await read_text(source, "package.json"))
        managed = choose_manager(package, files, await lock_head(source, files))
        lines.append(install_node_tool(managed.package if managed.name == tool else tool))
    return replace(found, setup=(*lines, *found.setup)) if lines else found


def _is_called(tool: str, text: str) -> bool:
    """Whether a line starts with the tool and none installs it."""
    installed = re.search(rf"\binstall\b[^\n]*[\s/]{tool}(@\S+)?(\s|$)", text, re.MULTILINE)
    variables = r"(?:[A-Z_]+=\S*\s+){0,5}"
    return not installed and bool(
        re.search(rf"(?:^|&&|\|\||;)\s*{variables}{tool}\s", text, re.MULTILINE)
    )


def _without_stale(found: Declared, files: tuple[str, ...]) -> Declared:
    """No lines at all when one names a requirements file that is gone: nobody uses them now."""
    named = [name for line in found.setup for name in _REQUIREMENTS.findall(line)]
    gone = [name for name in named if posixpath.normpath(name) not in files]
    moves = any(re.search(r"(^|\n|&&)\s*cd\s", line) for line in found.setup)
    if not gone or moves:
        return found
    note = f"{found.origin} was left out: it names {gone[0][:80]}, which does not exist."
    return replace(found, setup=(), notes=(*found.notes, note))
