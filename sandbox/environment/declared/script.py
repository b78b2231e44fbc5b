"""Shell text that others wrote for their own machines, as set-up lines of the sandbox.

There is no root in a set-up: what is installed by apt becomes packages of the plan, and a line
that needs root otherwise cannot be kept.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from sandbox.environment.packages import is_package
from sandbox.environment.tools import install_node_tool, install_python_tool

# No author writes longer ones, and searching them is where hostile text would cost time.
LINE_LIMIT = 2_000
_APT = re.compile(
    r"(?:sudo\s+(?:-\w+\s+)*)?(?:[A-Z_]+=\S+\s+)*(?:sudo\s+)?apt(?:-get)?\s+(?P<rest>[^|;&<>`$()]*)"
)
_IDLE = re.compile(r"#|(true|set -\w+( \w+)?|(true *&& *)*true)$")
_MISSING = re.compile(
    r"(?:^|&&|;)\s*(mise|asdf|brew|conda|mamba|micromamba|nix|nix-shell|direnv|devbox|rtx)\s",
    re.MULTILINE,
)
_NEEDS_ROOT = re.compile(r"(^|[\s;&|(])(sudo|su|doas|systemctl|service|docker|podman)\s")
# Commands that are the same thing in another way here: no root, no pipx, no corepack, and one
# environment outside the tree, which `uv sync` must neither replace nor clear.
_ADAPTED: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (
        re.compile(r"(?:sudo\s+)?npm\s+(?:install|i)\s+(?:-g|--global)\s+([\w@/.^~-]+)(?=\s*$)"),
        lambda match: install_node_tool(match[1]),
    ),
    (
        re.compile(r"(?:python3? -m )?pipx\s+install\s+([\w.-]+)(?=\s*$)"),
        lambda match: install_python_tool(match[1]),
    ),
    (
        re.compile(r"curl [^|&;]*astral\.sh/uv/[^|&;]*\|\s*(?:ba)?sh\b[^&;]*"),
        lambda _: install_python_tool("uv"),
    ),
    (
        re.compile(r"curl [^|&;]*install\.python-poetry\.org[^|&;]*\|\s*python3? -[^&;]*"),
        lambda _: install_python_tool("poetry"),
    ),
    (
        re.compile(r"(?:sudo\s+)?corepack\s+(?:enable|prepare)[^&;|]*?(?=\s*(?:[&;|]|$))"),
        lambda _: "true",
    ),
    (
        re.compile(r"\buv\s+sync\b(?!\s+--inexact)"),
        lambda _: 'UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" uv sync --inexact',
    ),
    (
        re.compile(r"\buv\s+run\b"),
        lambda _: 'UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" uv run --inexact',
    ),
    (
        re.compile(
            r"(?:(?:python3?[\d.]*\s+-m\s+venv|virtualenv|uv\s+venv)(?:\s+-[\w-]+)*\s+\.?venv/?"
            r"|(?:\.|source)\s+\.?venv/bin/activate|(?:[\w-]+ )?pre-commit install\b[^&;|]*"
            r"|(?:(?:npx|yarn|pnpm)(?: exec)?|python3? -m) playwright install\b[^&;|]*)(?=\s|$)"
        ),
        lambda _: "true",  # there is an environment, no history to guard and no browser
    ),
    (  # the sandbox has no remote and no history
        re.compile(
            r"(?<![\w./-])git\s+(?:fetch|pull|submodule|config|lfs|tag)\b[^&;|)]*?(?=\s*(?:[&;|)]|$))"
        ),
        lambda _: "true",
    ),
    (re.compile(r"(?<![\w/.])\.?venv/bin/(?=(?:pip3?|python3?|pytest)\b)"), lambda _: ""),
    (re.compile(r"\bsudo\s+(?:-\w+\s+)*(?=(?:pip3?|npm|python3?)\s)"), lambda _: ""),
)


@dataclass(frozen=True, slots=True)
class Lines:
    """A script's set-up line ("" when nothing is left), its Debian packages, what is missing."""

    line: str
    packages: tuple[str, ...] = ()
    note: str = ""


def convert(text: str) -> Lines:
    """One script as one line that stops at its first failing command, as its author meant it."""
    if max(map(len, text.splitlines()), default=0) > LINE_LIMIT:
        return Lines("", note=f"has a line of more than {LINE_LIMIT} characters")
    kept, packages = [], list[str]()
    for raw in _joined(text):
        pieces = [piece.strip() for piece in re.split(r"&&", raw)]
        found = [_apt(piece) for piece in pieces]
        if all(one is None for one in found):
            kept.append(_adapted(raw))
            continue
        packages += [name for one in found if one is not None for name in one]
        rest = [piece for piece, one in zip(pieces, found, strict=True) if one is None and piece]
        if rest:
            kept.append(_adapted(" && ".join(rest)))
    busy = [line for line in kept if line.strip() and not _IDLE.match(line.strip())]
    body = "\n".join(busy).strip()
    if _NEEDS_ROOT.search(body):
        return Lines("", tuple(packages), "needs root or a service of the machine")
    missing = _MISSING.search(body)
    if missing:
        return Lines("", tuple(packages), f"needs {missing[1]}, which is not in the image")
    return Lines(body if len(busy) < 2 else f"set -e\n{body}", tuple(packages))


def _adapted(line: str) -> str:
    if line.lstrip().startswith("#"):
        return line
    for pattern, write in _ADAPTED:
        line = pattern.sub(write, line)
    return re.sub(r"^(?:true\s*&&\s*)+", "", line)


def _joined(text: str) -> list[str]:
    """Lines of a script without its first `#!`, continued lines in one."""
    joined = re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", text)
    lines = [line.rstrip() for line in joined.splitlines()]
    return lines[1:] if lines and lines[0].startswith("#!") else lines


def _apt(command: str) -> tuple[str, ...] | None:
    """The packages of a plain apt call, () for its other calls, None when it is none."""
    match = _APT.fullmatch(command)
    if match is None:
        return None
    words = [word for word in match["rest"].split() if not word.startswith("-")]
    if words[:1] != ["install"]:
        return ()
    return tuple(word for word in words[1:] if is_package(word))
