"""Whether `pip` may run files of the tree while it installs."""

import configparser
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname, normpath
from typing import Any

from sandbox.base import Source
from sandbox.environment.sharing.backends import is_declarative

_FLAGS = frozenset(
    {"-q", "--quiet", "-U", "--upgrade", "--no-deps", "--no-index", "--no-cache-dir"}
    | {"--prefer-binary", "--pre", "--disable-pip-version-check"}
)
_FILES = frozenset({"-r", "--requirement", "-c", "--constraint"})
_EDITABLE = re.compile(r"\.(\[[\w.,-]+\])?")
_WHEEL = re.compile(r"(\./)?([\w.-]+/)*[\w.+-]+\.whl")
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]*(\s*\[[\w., -]+\])?\s*([<>=!~]=?=?[\w.*+!<>=~, -]+)?"
    r"(\s*;[\w\s.<>=!'\"()*,+-]*)?"
    r"(\s*--hash=\w+:\w+)*"
)
_ARCHIVE = re.compile(
    r"\.(zip|whl|egg|tar|tgz|tbz|txz|tlz|(tar\.)?(gz|bz2|xz|lzma))$", re.IGNORECASE
)
_INDEX = re.compile(r"(-i|--index-url|--extra-index-url|--prefer-binary|--pre)([ =]https://\S+)?")
_NESTED = re.compile(r"(?:-r|--requirement|-c|--constraint)[ =]\s*([\w./-]+)")
_LISTS = 50
# Python loads these by itself as soon as the project is on its path.
_STARTED = re.compile(r"(^|/)((site|user)customize|keyring|_distutils_hack)(\.py|/)|\.pth$")
_TRIVIAL = re.compile(
    r"(\s|#[^\n]*\n)*(from setuptools import setup|import setuptools)\s+(setuptools\.)?setup\(\)\s*"
)
_LINTING = re.compile(
    r"flake8|tool:pytest|mypy(-.*)?|isort|pycodestyle|pep8|pydocstyle|coverage(:.*)?|yapf|codespell"
)


@dataclass(frozen=True, slots=True)
class Pip:
    """What one `pip install` was given."""

    words: tuple[str, ...]


async def python_runs_own_code(
    source: Source, directory: str, blobs: Mapping[str, str], pips: Sequence[Pip]
) -> bool:
    """Whether more than manifests, requirements files and wheels decides what pip runs.

    Published packages, wheels of the tree and the project in place, when it is built by a
    well-known backend from a declaration alone, are all that is certain.
    """
    if pips and any(_STARTED.search(path) for path in blobs):
        return True
    lists: set[str] = set()
    in_place = False
    for pip in pips:
        words = iter(pip.words)
        for word in words:
            if word in _FILES:
                lists.add(_path(directory, next(words, "")))
            elif word in {"-e", "--editable"}:
                in_place = True
                if not _EDITABLE.fullmatch(next(words, "")):
                    return True
            elif _WHEEL.fullmatch(word):
                if _path(directory, word) not in blobs:
                    return True
            elif word not in _FLAGS and not _is_published(word):
                return True
    return not await _are_plain(source, lists, blobs) or (
        in_place and not await _is_declared(source, directory, blobs)
    )


def _path(directory: str, name: str) -> str:
    return normpath(f"{directory}/{name}" if directory else name)


def _is_published(word: str) -> bool:
    return bool(_REQUIREMENT.fullmatch(word)) and not _ARCHIVE.search(word.partition("[")[0])


async def _are_plain(source: Source, lists: set[str], blobs: Mapping[str, str]) -> bool:
    """Whether requirements files, and those they name, hold nothing but published packages."""
    seen: set[str] = set()
    while waiting := lists - seen:
        path = waiting.pop()
        seen.add(path)
        data = await source.read(path) if path in blobs else None
        if data is None or not data.isascii() or b"coding" in data or len(seen) > _LISTS:
            return False
        text = re.sub(rb"\\\r?\n", b" ", data).decode()
        for raw in text.splitlines():
            line = re.sub(r"(^|\s)#.*", "", raw).strip()
            nested = _NESTED.fullmatch(line)
            if nested:
                lists.add(_path(dirname(path), nested[1]))
            elif line and not _INDEX.fullmatch(line) and not _is_published(line):
                return False
    return True


async def _is_declared(source: Source, directory: str, blobs: Mapping[str, str]) -> bool:
    """Whether the project in `directory` is built without running anything of it."""

    async def text(name: str) -> str | None:
        path = _path(directory, name)
        if path not in blobs:
            return None
        return (await source.read(path) or b"").decode(errors="replace")

    script, settings = await text("setup.py"), await text("setup.cfg")
    if script is not None and not _TRIVIAL.fullmatch(script):
        return False
    if settings is not None and not _only_lints(settings):
        return False
    if any(_path(directory, name) in blobs for name in ("hatch.toml", "hatch_build.py")):
        return False
    try:
        manifest: dict[str, Any] = tomllib.loads(await text("pyproject.toml") or "")
        return is_declarative(manifest)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return False


def _only_lints(settings: str) -> bool:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(settings)
    except configparser.Error:
        return False
    return (
        all(_LINTING.fullmatch(section) for section in parser.sections()) and not parser.defaults()
    )
