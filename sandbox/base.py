"""The sandbox's boundary: Protocols two backends implement and the frozen values that cross it.

Everything that comes out of a workspace (text, patches, test results) is untrusted data.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from sandbox.memory import Memory

TestStatus = Literal["pass", "fail", "error", "skip"]
Isolation = Literal["container", "user-space kernel", "none"]
Role = Literal["explore", "candidate", "verify"]
Language = Literal["python", "node", "go", "rust", "java", "ruby", "php", "unknown"]
SuiteRunner = Literal[
    "pytest",
    "unittest",
    "node",
    "mocha",
    "jest",
    "vitest",
    "go",
    "cargo",
    "surefire",
    "tape",
    "exit_code",
]

WORKSPACE_PATH = "/workspace"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one workspace may use; the same for every workspace of a run.

    `disk_mb` and `files` are what it may add to the engine's disk.
    """

    memory_mb: int = 2048
    cpus: float = 1.0
    pids: int = 256
    tmp_mb: int = 512
    file_mb: int = 2048
    disk_mb: int = 4096
    files: int = 200_000
    setup_timeout_s: float = 900.0
    test_timeout_s: float = 1200.0


@dataclass(frozen=True, slots=True)
class Command:
    """One shell command line, run by `bash -c` in the workspace's root.

    `output_limit` bytes are kept (first and last half, with a marker between); the rest is
    dropped while reading. At `timeout_s` every process the command started is ended. `quick`
    marks a small command of the harness that only looks: it may take a faster way whose answer
    repository code could forge, so no verdict may rest on it.
    """

    line: str
    timeout_s: float = 60.0
    stdin: bytes = b""
    env: Mapping[str, str] = field(default_factory=dict)
    output_limit: int = 10_000
    quick: bool = False


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a command did: `exit_code` is None when it was ended (see the flags for why)."""

    exit_code: int | None
    output: str
    duration_s: float
    timed_out: bool = False
    out_of_memory: bool = False
    truncated: bool = False
    disk_limit: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.timed_out


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of a test command.

    `results` maps test id to status; ids are stable between runs of the same suite. `structured`
    tells whether they were read from the runner's own report; when it is False there is one
    id, "suite", judged by the exit code. An empty `results` means that no verdict exists
    (time-out, crash, nothing collected): never a pass; `why` then says in words why.
    """

    results: Mapping[str, TestStatus]
    exit_code: int | None
    duration_s: float
    timed_out: bool
    structured: bool
    output: str
    why: str = ""

    __test__ = False  # not a test class, whatever pytest makes of the name

    def with_status(self, status: TestStatus) -> frozenset[str]:
        """The ids that ended with `status`."""
        return frozenset(test for test, got in self.results.items() if got == status)


@dataclass(frozen=True, slots=True)
class EnvironmentPlan:
    """How a repository is set up and tested, and where that was read; explicit and readable.

    `setup` lines run in order as the sandbox user with network; `test` runs without. An empty
    `test` means that nothing was found. `runner` says whose report can be read. `directory` is
    the folder of the tree in which all lines run ("" = its root). `packages` are Debian packages
    installed as root before the lines, `variables` (name, value) pairs of every line and every
    later command, `hosts` further hosts the set-up may reach, `image` a base image reference
    ("" = the language's). `notes` say what was found and not used, one sentence each.
    """

    language: Language
    setup: tuple[str, ...]
    test: str
    runner: SuiteRunner
    origin: str
    directory: str = ""
    packages: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    hosts: tuple[str, ...] = ()
    image: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Environment:
    """A prepared repository: ready to be copied into workspaces, with its base test runs.

    `reference` is the backend's own handle (an image id or a folder). `baseline` is the run of
    the suite before any patch, `baseline_again` a second one that tells flaky tests; both None
    when the plan has no test command. `log` is the end of the set-up's output. `built_on` is the
    commit whose installation it uses, "" when it was set up from scratch. `targets` are the test
    files that the base runs were of, in lists for one call of the runner each; () for all tests.
    """

    reference: str
    plan: EnvironmentPlan
    baseline: TestRun | None
    baseline_again: TestRun | None
    setup_s: float
    log: str
    cached: bool = False
    built_on: str = ""
    targets: tuple[tuple[str, ...], ...] = ()

    @property
    def stable_passes(self) -> frozenset[str]:
        """Tests that passed in both base runs: what a candidate must not lose."""
        if self.baseline is None or self.baseline_again is None:
            return frozenset()
        return self.baseline.with_status("pass") & self.baseline_again.with_status("pass")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend separates and limits, for reports and `prism doctor`.

    `disk` is "engine" where the engine enforces a quota, "watched" where Prism polls and ends
    what exceeds it. `unprotected` completes the sentence "It does not protect from …".
    """

    isolation: Isolation
    memory: bool
    processes: bool
    disk: Literal["engine", "watched", "none"]
    setup_network: Literal["allow-list", "open"]
    unprotected: tuple[str, ...]


class Source(Protocol):
    """A repository at one commit, read without ever checking it out on the host."""

    @property
    def repository(self) -> str:
        """A key unique per installation and repository; part of cache keys and labels."""

    @property
    def base_commit(self) -> str:
        """The full object name of the commit."""

    async def files(self) -> tuple[str, ...]:
        """Paths of all regular files at the commit, sorted."""

    async def blobs(self) -> Mapping[str, str]:
        """Paths of all regular files with the object names of their contents."""

    async def read(self, path: str) -> bytes | None:
        """The file's bytes at the commit, None when there is no such file."""

    def archive(self) -> AsyncIterator[bytes]:
        """The tree as a tar stream, in chunks."""


class Workspace(Protocol):
    """A private copy of a prepared repository; the only place where its code runs."""

    @property
    def path(self) -> str:
        """Absolute path of the tree as commands see it."""

    @property
    def memory(self) -> Memory:
        """Named JSON values kept beside the workspace, out of its reach."""

    async def exec(self, command: Command) -> ExecResult:
        """Run one command; a failing command is a result, not an error."""

    async def read(self, path: str) -> str:
        """A file's text, at most 1 MB; raises FileNotFound with a plain message."""

    async def write(self, path: str, text: str) -> None:
        """Create or replace a file below the workspace's root."""

    async def snapshot(self) -> str:
        """Record tracked and untracked files; returns a handle for `restore` and `fork`.

        Repository code can read what is recorded and can neither change nor remove it.
        """

    async def restore(self, snapshot: str) -> None:
        """Put every file back to a snapshot."""

    def fork(self, snapshot: str = "") -> AbstractAsyncContextManager["Workspace"]:
        """A fresh copy of the environment with a snapshot's files ("" = as they are now).

        It starts with a copy of the memory and knows this workspace's snapshots; its path is the
        same where the backend has containers. Ignored files, changes outside the tree and
        processes stay behind. Costs one container.
        """

    async def diff(self) -> str:
        """The patch against the recorded base: binary, full index, never against HEAD."""

    async def apply(self, patch: str) -> ExecResult:
        """Apply a patch without fuzz; nothing changes when it does not apply."""

    async def test(self, targets: tuple[str, ...] = ()) -> TestRun:
        """Run the plan's test command, on `targets` (files or runner ids) when given."""


class SetupShell(Protocol):
    """A fresh copy of a repository before its set-up, where commands may be tried."""

    async def exec(self, command: Command) -> ExecResult:
        """Run one command as the sandbox user, with a set-up's network and variables."""


class Sandbox(Protocol):
    """One backend: prepares environments and hands out workspaces."""

    @property
    def isolation(self) -> Isolation:
        """What separates repository code from this machine; shown on every report."""

    async def capabilities(self) -> Capabilities:
        """What is separated and limited, and what is not; asks the engine once."""

    async def prepare(self, source: Source, plan: EnvironmentPlan, run: str) -> Environment:
        """Build or reuse the environment of (repository, base commit, plan).

        Costs one set-up container and two runs of the suite when not cached. Raises SetupFailed
        with the log's end when a set-up line fails. A backend may raise it again without trying,
        for an hour or until `forget_failures`.
        """

    async def forget_failures(self, repository: str) -> int:
        """Let set-ups of a repository that failed lately be tried again; returns how many."""

    def workspace(
        self, environment: Environment, role: Role, run: str
    ) -> AbstractAsyncContextManager[Workspace]:
        """A fresh copy without network; leaving the context ends every process and removes it."""

    def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AbstractAsyncContextManager[SetupShell]:
        """A place to try set-up commands in, started as for `plan`; nothing in it is kept.

        The plan's packages and variables are there, its lines were not run. What was found
        becomes an environment by `prepare`, which replays a plan from scratch.
        """
