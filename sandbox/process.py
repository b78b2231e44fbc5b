"""The backend without isolation: for the scripted demo and for tests, on trusted code only.

Repository code runs as this user, with its files and its network, and git is run on trees it
could have changed; both are acceptable only because nobody hostile wrote them. Never use it
with a live model or on deliveries from outside. It needs Linux, git, tar and bash.

Workspaces share one virtual environment, so nothing in it may point at one tree: the hooks of
editable installs are taken out after the set-up, and each workspace puts its own source folders
on the module path.
"""

import asyncio
import os
import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from shlex import quote

from sandbox.base import (
    Capabilities,
    Environment,
    EnvironmentPlan,
    Isolation,
    Limits,
    Role,
    SetupShell,
    Source,
    TestRun,
    Workspace,
)
from sandbox.environment.passthrough import local_installer_environment
from sandbox.environment.record import dump_environment, environment_key, load_environment
from sandbox.environment.version import scm_environment
from sandbox.errors import NotAllowed, WorkspaceLost
from sandbox.presence import Presence
from sandbox.process_runner import ProcessRunner
from sandbox.runner import Layout
from sandbox.setup import Place, Setup
from sandbox.setup_shell import open_shell
from sandbox.workspace import ShellWorkspace

_RECORD = "record.json"
_PATHS = "module-paths"


class ProcessSandbox:
    """Implements `sandbox.base.Sandbox` with folders and processes below `data_dir`.

    `allow` must be True: the caller states that only trusted code and a scripted model are
    involved. Raises NotAllowed otherwise.
    """

    def __init__(
        self,
        *,
        data_dir: Path,
        allow: bool,
        limits: Limits | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        if not allow:
            raise NotAllowed(
                "The process sandbox does not isolate repository code from this machine; it is "
                "for the scripted demo and for tests. Use the docker sandbox."
            )
        self._root = data_dir.resolve() / "process"
        self._limits = limits or Limits()
        self._environ = environ
        self._presence = Presence(self._root, "process")
        self._preparing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def isolation(self) -> Isolation:
        """None at all."""
        return "none"

    async def check_engine(self) -> str:
        """There is no engine; says what there is instead."""
        return "plain processes, not isolated"

    async def capabilities(self) -> Capabilities:
        """Nothing is separated, and only time and single files are limited."""
        return Capabilities(
            isolation="none",
            memory=False,
            processes=False,
            disk="none",
            setup_network="open",
            unprotected=(
                "repository code that reads, changes or sends away what this user can: every file, "
                "every secret, every network this machine reaches",
                "memory, processes and disk that are used without bound",
                "trees whose git settings repository code could have changed: git runs there",
            ),
        )

    async def remove_orphans(self, *, alone: bool = False) -> int:
        """Remove workspaces that an earlier process left, when `alone`; returns how many.

        None while another process works below the same folder.
        """

        def remove() -> int:
            with self._presence.alone() as is_alone:
                left = list(self._workspaces.iterdir()) if self._workspaces.is_dir() else []
                for folder in left if is_alone else ():
                    shutil.rmtree(folder, ignore_errors=True)
                return len(left) if is_alone else 0

        return await asyncio.to_thread(remove) if alone else 0

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan, interpreter).

        Costs one set-up and two runs of the suite when not cached. Raises SetupFailed with the
        log's end when a set-up line fails; nothing is kept then.
        """
        variables = await scm_environment(source)
        key = environment_key(source, plan, sys.version, variables)
        folder = self._root / "environments" / key
        async with self._preparing[key]:
            try:
                return load_environment((folder / _RECORD).read_bytes(), str(folder))
            except (OSError, ValueError):
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            try:
                return await self._build(source, plan, run, folder, variables)
            except BaseException:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
                raise

    def workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AbstractAsyncContextManager[Workspace]:
        """A fresh copy of the prepared tree; leaving the context ends its processes."""
        return self._workspace(environment)

    async def forget_failures(self, repository: str) -> int:
        """Failures are not remembered here."""
        return 0

    async def prune(self, max_gb: float, max_days: float) -> tuple[()]:
        """Nothing is removed here: environments stay until their folder goes."""
        return ()

    @asynccontextmanager
    async def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AsyncIterator[SetupShell]:
        """A folder to try set-up commands in, removed when the context is left."""
        self._presence.enter()
        folder = self._workspaces / token_hex(8)
        setup = self._setup(folder, await scm_environment(source))
        try:
            yield await open_shell(setup, source, plan)
        finally:
            await setup.place.runner.end_processes()
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def close(self) -> None:
        """Let a sweep of another process take what is left over."""
        self._presence.leave()

    @property
    def _workspaces(self) -> Path:
        return self._root / "workspaces"

    @asynccontextmanager
    async def _workspace(self, environment: Environment) -> AsyncIterator[ShellWorkspace]:
        self._presence.enter()
        folder = Path(environment.reference)
        home = self._workspaces / token_hex(8)
        runner: ProcessRunner | None = None
        try:
            try:
                paths = (folder / _PATHS).read_text().splitlines()
                await asyncio.to_thread(shutil.copytree, folder / "ready", home, symlinks=True)
            except OSError as error:
                raise WorkspaceLost("The environment is gone; prepare it again.") from error
            runner = self._runner(folder, home, paths)
            sibling = partial(self._workspace, environment)
            yield ShellWorkspace(runner, environment.plan, self._limits, sibling)
        finally:
            if runner is not None:
                await runner.end_processes()
            await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)

    async def _build(
        self,
        source: Source,
        plan: EnvironmentPlan,
        run: str,
        folder: Path,
        variables: Mapping[str, str],
    ) -> Environment:
        start = time.monotonic()
        setup = self._setup(folder, variables)
        await setup.carry_out(source, plan)
        environment = Environment(
            reference=str(folder),
            plan=plan,
            baseline=None,
            baseline_again=None,
            setup_s=time.monotonic() - start,
            log=setup.log_text,
        )
        if plan.test:
            first, second = await asyncio.gather(
                self._base_run(environment), self._base_run(environment)
            )
            environment = replace(environment, baseline=first, baseline_again=second)
        (folder / _RECORD).write_bytes(dump_environment(environment))
        return environment

    def _setup(self, folder: Path, variables: Mapping[str, str]) -> Setup:
        """A set-up to be carried out in `folder`, which must be new."""
        ready = folder / "ready"
        for name in ("tree", "home", "tmp"):
            (ready / name).mkdir(parents=True)
        tree = ready / "tree"

        async def detach() -> None:
            paths = await asyncio.to_thread(detach_editable, folder / "venv", tree)
            (folder / _PATHS).write_text("\n".join(paths) + "\n")

        return Setup(
            place=Place(
                runner=self._runner(folder, ready, []),
                venv=str(folder / "venv"),
                home=str(ready / "home"),
                bundle=str(folder / "ca.pem"),
                python=sys.executable,
                make_folders=":",
                clean=f"find {quote(str(ready / 'tmp'))} -mindepth 1 -delete",
                after_lines=detach,
            ),
            limits=self._limits,
            installers={**local_installer_environment(self._environ), **variables},
        )

    async def _base_run(self, environment: Environment) -> TestRun:
        async with self._workspace(environment) as workspace:
            return await workspace.test()

    def _runner(self, folder: Path, home: Path, module_paths: list[str]) -> ProcessRunner:
        layout = Layout(
            tree=str(home / "tree"),
            base_git=str(folder / "base.git"),
            work_git=str(home / "git"),
            scratch=str(home / "tmp"),
        )
        path = self._environ.get("PATH", os.defpath)
        env = {
            "PATH": f"{folder / 'venv' / 'bin'}:{path}",
            "HOME": str(home / "home"),
            "TMPDIR": layout.scratch,
            "LANG": "C.UTF-8",
            "CI": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": ":".join(str(home / "tree" / path) for path in module_paths),
        }
        return ProcessRunner(layout, env, path)


def detach_editable(venv: Path, tree: Path) -> list[str]:
    """Take the hooks of editable installs out of `venv` and return the module path they made.

    Paths are relative to the tree, in the order found, "src" (when there is one) and "." last.
    Metadata and console scripts stay, so the project is still found as installed.
    """
    found: list[str] = []
    for site in sorted(venv.glob("lib*/python*/site-packages")):
        for hook in sorted(
            [*site.glob("*.pth"), *site.glob("__editable__*"), *site.glob("*.egg-link")]
        ):
            if not hook.is_file():
                continue
            text = hook.read_text(errors="replace")
            if str(tree) not in text and not _loads_finder(text):
                continue
            found += _folders(text, tree)
            hook.unlink()
    defaults = [name for name in ("src",) if (tree / name).is_dir()]
    return list(dict.fromkeys([*found, *defaults, "."]))


def _loads_finder(text: str) -> bool:
    """Whether a .pth file starts the finder of an editable install (one per install)."""
    return text.lstrip().startswith("import __editable___")


def _folders(text: str, tree: Path) -> list[str]:
    """Folders of modules named in a hook: path lines themselves, parents of mapped packages."""
    folders: list[str] = []
    for match in re.findall(re.escape(str(tree)) + r"[^'\"\n]*", text):
        path = Path(match)
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        folder = path.parent if is_module else path
        if folder.is_relative_to(tree) and folder.is_dir():
            folders.append(str(folder.relative_to(tree)))
    return folders
