"""What a tool is: a schema for the model, and a function from checked arguments to an observation.

A tool never raises into the loop: what it cannot do comes back as text with what to do instead.
"""

import posixpath
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from pipeline.index.quoting import asked_name
from pipeline.model.schema import schema_of, validate
from pipeline.services import Json, ToolSpec
from sandbox.errors import EngineUnavailable, SandboxError, WorkspaceLost

A = TypeVar("A")
MAX_PATH = 4_096  # characters; no file system takes more


class ToolProblem(Exception):
    """A call that cannot be carried out; the message says what to do instead."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What the model reads back. A non-None `output` ends the run with that output.

    `malformed` tells a call that was none (unknown tool, bad arguments) from one that failed.
    """

    text: str
    is_error: bool = False
    output: Json = None
    malformed: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """`run` takes the raw input of a call and never raises for a bad one."""

    spec: ToolSpec
    run: Callable[[Json], Awaitable[Observation]]


def make_tool(
    name: str,
    description: str,
    arguments: type[A],
    work: Callable[[A], Awaitable[str | Observation]],
) -> Tool:
    """A tool whose input is the frozen dataclass `arguments`; its schema is made from it."""

    async def run(raw: Json) -> Observation:
        checked = validate(arguments, raw)
        if isinstance(checked, str):
            text = f"{checked} Call `{name}` again with valid arguments."
            return Observation(text, is_error=True, malformed=True)
        try:
            result = await work(checked)
        except (EngineUnavailable, WorkspaceLost):
            raise
        except (ToolProblem, SandboxError) as error:
            return Observation(sendable(str(error)), is_error=True)
        except UnicodeError:
            text = "The arguments hold characters that are no Unicode text (half a surrogate pair)."
            return Observation(f"{text} Call `{name}` again without them.", is_error=True)
        seen = Observation(result) if isinstance(result, str) else result
        return replace(seen, text=sendable(seen.text))

    return Tool(ToolSpec(name, description.strip(), schema_of(arguments)), run)


def sendable(text: str) -> str:
    """The text with what no message can hold written out: names that are not UTF-8 as `\\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()


def inside(root: str, path: str) -> str:
    """A path relative to the workspace's root; ToolProblem when it leads out of it or into .git."""
    cleaned = path.strip()
    if cleaned == root or cleaned.startswith(f"{root}/"):
        cleaned = cleaned[len(root) :].lstrip("/")
    if "\0" in cleaned or "\n" in cleaned:
        raise ToolProblem("A path cannot hold line breaks.")
    if len(cleaned) > MAX_PATH:
        raise ToolProblem(f"No path is as long as {asked_name(path)}; use one that `list` shows.")
    normal = posixpath.normpath(cleaned or ".")
    first = normal.split("/", 1)[0]
    if normal.startswith("/") or first == "..":
        raise ToolProblem(
            f"{asked_name(path)} is outside the repository; use a path relative to its root."
        )
    if first == ".git":
        raise ToolProblem("The folder .git is not part of the repository's text.")
    return normal
