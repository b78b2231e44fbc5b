"""`.devcontainer/devcontainer.json`: the part of it that cannot reach outside the sandbox."""

import re
from shlex import join
from typing import Any

from sandbox.base import Source
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.script import convert
from sandbox.environment.documents import read_json, read_text, table, texts

PATHS = (".devcontainer/devcontainer.json", ".devcontainer.json")
_COMMANDS = ("onCreateCommand", "updateContentCommand", "postCreateCommand")
# What would run on, or give away, the machine around the container, or choose its image: such
# images move, and what they hold is seldom needed. `env.image` of prism.yml is for that.
_IGNORED = (
    "mounts",
    "workspaceMount",
    "runArgs",
    "privileged",
    "capAdd",
    "securityOpt",
    "initializeCommand",
    "build",
    "dockerFile",
    "dockerComposeFile",
    "features",
    "postStartCommand",
    "image",
)
_EDITOR = re.compile(r"\$\{\w+:")


async def declared_by_devcontainer(source: Source, files: tuple[str, ...]) -> Declared | None:
    """Create commands and literal variables; None without the file."""
    path = next((one for one in PATHS if one in files), "")
    if not path:
        return None
    content = read_json(await read_text(source, path))
    commands = [one for key in _COMMANDS for one in _commands(content.get(key))]
    usable = [one for one in commands if not _EDITOR.search(one)]
    converted = [convert(await _inlined(source, files, one)) for one in usable]
    notes = [f"{path}: `{key}` was ignored." for key in _IGNORED if key in content]
    notes += [f"{path}: a command was left out: it {one.note}." for one in converted if one.note]
    if len(usable) < len(commands):
        notes.append(f"{path}: a command was left out: it uses a variable of the editor.")
    return Declared(
        origin=path,
        setup=tuple(one.line for one in converted if one.line),
        packages=tuple(dict.fromkeys(name for one in converted for name in one.packages)),
        variables=_variables(content),
        notes=tuple(notes),
    )


async def _inlined(source: Source, files: tuple[str, ...], command: str) -> str:
    """The text of a script of the repository instead of a call of it, to see what it needs."""
    match = re.fullmatch(r"(?:(?:bash|sh)\s+(?:-\w+\s+)*)?(?:\./)?([\w./-]+\.sh)", command.strip())
    return await read_text(source, match[1]) if match and match[1] in files else command


def _commands(value: Any) -> list[str]:
    """A command as text, as an array of arguments, or as an object of named ones."""
    if isinstance(value, dict):
        return [one for command in value.values() for one in _commands(command)]
    if isinstance(value, list):
        words = texts(value)
        return [join(words)] if words else []
    return [value] if isinstance(value, str) and value.strip() else []


def _variables(content: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value)
        for name, value in table(content, "containerEnv").items()
        if isinstance(value, str) and "${" not in value and re.fullmatch(r"[A-Za-z_]\w*", name)
    )
