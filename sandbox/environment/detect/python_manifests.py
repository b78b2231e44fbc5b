"""A Python project's manifests, parsed once."""

import configparser
import re
from dataclasses import dataclass
from typing import Any

from sandbox.base import Source
from sandbox.environment.documents import read_ini, read_text, read_toml, table

TEST_NAMES = ("test", "tests", "testing", "dev", "develop", "development", "unittest", "ci")
MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile")
_TEST_NAME = re.compile(
    r"(unit[-_]?)?tests?([-_].*)?|.*[-_]tests?|testing[-_].*|dev[-_].*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Manifests:
    """The parsed manifests of one directory; what is missing or malformed is empty.

    `present` are the manifests that exist, `files` (in order) and `names` everything below the
    directory.
    """

    source: Source
    directory: str
    files: tuple[str, ...]
    names: frozenset[str]
    present: tuple[str, ...]
    pyproject: dict[str, Any]
    setup_cfg: configparser.ConfigParser
    tox: configparser.ConfigParser
    setup_py: str

    def has(self, path: str) -> bool:
        """Whether the directory has this file."""
        return path in self.names

    async def text(self, path: str) -> str:
        """A file of the directory, "" without it."""
        return await read_text(self.source, self.directory + "/" + path if self.directory else path)

    @property
    def tool(self) -> dict[str, Any]:
        """The `tool` table of pyproject.toml."""
        return table(self.pyproject, "tool")

    @property
    def is_project(self) -> bool:
        """Whether this is a Python project: a pyproject.toml may only configure some tool."""
        if self.present and self.present != ("pyproject.toml",):
            return True
        return any(
            key in self.pyproject for key in ("project", "build-system", "dependency-groups")
        ) or bool(table(self.tool, "poetry"))

    @property
    def installable(self) -> bool:
        """Whether `pip install -e .` makes sense."""
        if table(self.tool, "poetry").get("package-mode") is False:
            return False
        if table(self.tool, "uv").get("package") is False:
            return False
        return (
            "setup.py" in self.present
            or "project" in self.pyproject
            or "build-system" in self.pyproject
            or "metadata" in self.setup_cfg
        )


async def read_manifests(source: Source, files: tuple[str, ...], directory: str) -> Manifests:
    """Read what is in `directory`; `files` are relative to it."""
    names = frozenset(files)

    async def text(name: str) -> str:
        path = f"{directory}/{name}" if directory else name
        return await read_text(source, path) if name in names else ""

    pyproject = read_toml(await text("pyproject.toml"))
    tox = await text("tox.ini")
    legacy = table(pyproject, "tool", "tox").get("legacy_tox_ini")
    return Manifests(
        source=source,
        directory=directory,
        files=files,
        names=names,
        present=tuple(name for name in MANIFESTS if name in names),
        pyproject=pyproject,
        setup_cfg=read_ini(await text("setup.cfg")),
        tox=read_ini(tox or (legacy if isinstance(legacy, str) else "")),
        setup_py=await text("setup.py"),
    )


def best_test_name(names: set[str]) -> str:
    """The name that most likely means "what the tests need", "" when none does."""
    exact = next((name for name in TEST_NAMES if name in names), "")
    close = sorted((name for name in names if _TEST_NAME.fullmatch(name)), key=_closeness)
    return exact or (close[0] if close else "")


def _closeness(name: str) -> tuple[bool, int, str]:
    return name.startswith("dev"), len(name), name
