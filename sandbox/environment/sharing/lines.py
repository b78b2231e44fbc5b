"""Whether a set-up can have run files of the tree: then no other commit may build on it.

Answers "no" only for lines of installers that are known through and through, on manifests that
order nothing else. A wrong "no" would let one commit plant something for later ones; a wrong
"yes" costs a set-up from scratch.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from posixpath import basename, normpath
from typing import Any

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.sharing.node import node_runs_own_code
from sandbox.environment.sharing.python import Pip, python_runs_own_code

_IDLE = re.compile(r"\s*(true|echo(\s+('[^']*'|[\w.,/-]+))*)?\s*")
_NPM = re.compile(
    r"npm (ci|install|i|rebuild)( --(no-audit|no-fund|ignore-scripts|legacy-peer-deps|silent))*"
)
_GO = re.compile(r"go mod download|go test -exec true( [\w./-]+)+")
_CARGO = re.compile(r"cargo fetch( --locked)?|cargo test (--workspace )?--no-run")
# What could hide a command in a word; a name in quotes may hold some of it.
_ORDERS = re.compile(r"[$`\\&|<>(){}\[\]*?!#\n]")
_QUOTED = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_QUOTED_OR_END = re.compile(rf"{_QUOTED.pattern}|(?P<end>\|\||&&|;|\n)")


async def runs_own_code(source: Source, plan: EnvironmentPlan, blobs: Mapping[str, str]) -> bool:
    """Whether a set-up line may execute, or be led by, more than the manifests of the tree."""
    if plan.variables:  # PYTHONPATH, NODE_OPTIONS, MAKEFLAGS and whatever else leads into the tree
        return True
    pieces = [piece.strip(" {}") for line in plan.setup for piece in _split(line)]
    busy = [_without_redirection(piece) for piece in pieces if not _IDLE.fullmatch(piece)]
    rest = [piece for piece in busy if not _GO.fullmatch(piece)]
    cargo = [piece for piece in rest if _CARGO.fullmatch(piece)]
    npm = [piece for piece in rest if _NPM.fullmatch(piece)]
    others = [piece for piece in rest if piece not in cargo and piece not in npm]
    pips = [_pip(piece) for piece in others]
    return (
        any(pip is None for pip in pips)
        or bool(cargo and await _cargo_runs_own_code(source, blobs))
        or bool(npm and await node_runs_own_code(source, plan.directory, blobs))
        or await python_runs_own_code(source, plan.directory, blobs, [pip for pip in pips if pip])
    )


def _split(line: str) -> Iterator[str]:
    start = 0
    for found in _QUOTED_OR_END.finditer(line):
        if found["end"]:
            yield line[start : found.start()]
            start = found.end()
    yield line[start:]


def _without_redirection(piece: str) -> str:
    return piece.removesuffix(">/dev/null").strip()


def _pip(piece: str) -> Pip | None:
    """The words after `pip install`, None for any other command."""
    if _ORDERS.search(_QUOTED.sub("", piece)):
        return None
    try:
        words = shlex.split(piece)
    except ValueError:
        return None
    return Pip(tuple(words[2:])) if words[:2] == ["pip", "install"] else None


async def _cargo_runs_own_code(source: Source, blobs: Mapping[str, str]) -> bool:
    """Build scripts and macros run while compiling; its configuration can name programs."""
    names = {basename(path) for path in blobs}
    configured = any(re.search(r"(^|/)\.cargo/", path) for path in blobs)
    if configured or names & {"build.rs", "rust-toolchain", "rust-toolchain.toml"}:
        return True
    for path in blobs:
        if basename(path) == "Cargo.toml" and _is_active(await source.read(normpath(path))):
            return True
    return False


def _is_active(manifest: bytes | None) -> bool:
    try:
        content: dict[str, Any] = tomllib.loads((manifest or b"").decode())
        package, library = content.get("package", {}), content.get("lib", {})
        return bool(
            package.get("build") or library.get("proc-macro") or library.get("proc_macro")
        ) or "proc-macro" in library.get("crate-type", [])
    except (ValueError, AttributeError, TypeError):
        return True
