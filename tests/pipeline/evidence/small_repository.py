"""A small real repository: folders with git as workspaces, and real runners in them."""

import difflib
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pipeline.journal import JsonLinesJournal
from pipeline.services import PipelineStage, RunConfig, Services
from pipeline.values import Candidate, Plan, Reproduction, Solution, Stage
from sandbox.base import (
    Command,
    Environment,
    EnvironmentPlan,
    Isolation,
    Role,
    SuiteRunner,
    TestRun,
    Workspace,
)
from sandbox.errors import WorkspaceLost
from sandbox.runner import Outcome
from sandbox.suite.command import read_run, suite_command
from tests.fakes import LocalWorkspace, MemorySource

STAGES: Mapping[str, Stage] = {"G": "global", "L": "local", "S": "synthesis"}

FILES = {
    "shop.py": (
        "def total(items):\n    return sum(items) if items else None\n\n\n"
        "def mean(items):\n    return sum(items) / len(items)\n"
    ),
    "tests/test_shop.py": (
        "import unittest\n\nimport shop\n\n\n"
        "class Shop(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n"
        "    def test_mean(self):\n        self.assertEqual(shop.mean([1, 3]), 2)\n\n"
        "    def test_nothing(self):\n        self.assertIsNone(shop.total([]))\n"
    ),
    "tests/__init__.py": "",
    "README.md": "shop\n",
}


class RunningWorkspace(LocalWorkspace):
    """A folder whose `test` runs the plan's runner and reads its report as the product does."""

    plan: EnvironmentPlan
    timeout_s: float

    async def test(self, targets: tuple[str, ...] = ()) -> TestRun:
        self.tested.append(targets)
        report = self.root.parent / f"{self.root.name}.{len(self.tested)}.xml"
        command = suite_command(self.plan, targets, str(report))
        if command is None:
            return TestRun({}, None, 0.0, timed_out=False, structured=False, output="no parts")
        line = " ".join(f"export {name}='{value}';" for name, value in command.env.items())
        line += (
            f" export PYTHONDONTWRITEBYTECODE=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1; {command.line}"
        )
        ran = await self.exec(Command(line, self.timeout_s, output_limit=100_000))
        outcome = Outcome(ran.exit_code, ran.output.encode(), b"", ran.duration_s, ran.timed_out)
        return read_run(self.plan, outcome, report.read_bytes() if report.exists() else None)


_BASES: dict[tuple[object, ...], tuple[TestRun, TestRun]] = {}


@dataclass
class FolderSandbox:
    """`sandbox.base.Sandbox` over folders; every workspace it handed out is kept to look at."""

    root: Path
    files: Mapping[str, str]
    plan: EnvironmentPlan
    timeout_s: float = 60.0
    opened: list[RunningWorkspace] = field(default_factory=list)
    to_lose: int = 0
    isolation: Isolation = "none"

    async def prepare(self, source: object, plan: EnvironmentPlan, run: str) -> Environment:
        # the same base is run twice once per session, not once per test
        key = (plan.runner, *self.files.items())
        if key not in _BASES:
            opened = list(self.opened)
            _BASES[key] = (await self._base(), await self._base())
            self.opened[:] = opened
        return Environment("folder", self.plan, *_BASES[key], 0.0, "")

    async def _base(self) -> TestRun:
        async with self.workspace(None, "verify", "run") as workspace:
            return await workspace.test()

    @asynccontextmanager
    async def workspace(
        self, environment: Environment | None, role: Role, run: str
    ) -> AsyncIterator[Workspace]:
        assert role == "verify"
        if self.to_lose:
            self.to_lose -= 1
            raise WorkspaceLost("the container went away")
        workspace = RunningWorkspace(self.root / f"w{len(list(self.root.iterdir()))}", self.files)
        workspace.plan, workspace.timeout_s = self.plan, self.timeout_s
        self.opened.append(workspace)
        yield workspace


@dataclass
class Noted:
    """`pipeline.services.Progress` that keeps what it was told."""

    said: list[tuple[str, int, int]] = field(default_factory=list)

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        self.said.append((stage, done, total))


def plan(runner: SuiteRunner = "pytest") -> EnvironmentPlan:
    """How the small repository is tested; the lines name this interpreter."""
    test = {
        "pytest": f"{sys.executable} -m pytest -q -p no:cacheprovider",
        "unittest": f"{sys.executable} -m unittest discover -s tests -t . -v",
    }[runner]
    return EnvironmentPlan("python", (), test, runner, "test")


class MakeSetting(Protocol):
    """The fixture `bench`: a setting over `files` with a runner and a time limit for its tests."""

    def __call__(
        self,
        files: Mapping[str, str] = FILES,
        runner: SuiteRunner = "pytest",
        timeout_s: float = 60.0,
    ) -> "Setting": ...


@dataclass
class Setting:
    """Everything `verify_pool` is given, over real parts."""

    sandbox: FolderSandbox
    source: MemorySource
    journal: Path
    progress: Noted = field(default_factory=Noted)
    config: RunConfig = field(default_factory=RunConfig)

    async def environment(self) -> Environment:
        """The base with its two runs."""
        return await self.sandbox.prepare(self.source, self.sandbox.plan, "run")

    def open_workspace(self) -> AbstractAsyncContextManager[Workspace]:
        """A verify workspace at the base."""
        return self.sandbox.workspace(None, "verify", "run")

    def services(self, model: object = None) -> Services:
        """Services whose journal is read anew from its file, as after a restart."""
        journal = JsonLinesJournal(self.journal, 10.0)
        return Services(
            "run", model, self.sandbox, self.source, journal, journal, self.progress, self.config  # type: ignore[arg-type]
        )  # fmt: skip


def make_patch(files: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The patch from `files` to the same with the texts of `after` in it."""
    patch = ""
    for path, text in sorted(after.items()):
        head = f"diff --git a/{path} b/{path}\n"
        head += "" if path in files else "new file mode 100644\n"
        old = f"a/{path}" if path in files else "/dev/null"
        before = files.get(path, "").splitlines(keepends=True)
        lines = difflib.unified_diff(before, text.splitlines(keepends=True), old, f"b/{path}")
        patch += head + "".join(lines)
    return patch


def candidate(name: str, patch: str = "", tests: Mapping[str, str] | None = None) -> Candidate:
    """A candidate with a patch and reproductions by path."""
    nothing = Plan("", Solution("", "", "", ()), ())
    written = tuple(Reproduction(path, text, name) for path, text in (tests or {}).items())
    return Candidate(name, STAGES[name[0]], (), nothing, patch, written)
