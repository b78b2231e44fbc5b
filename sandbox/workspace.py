"""One workspace over any backend's runner: files, snapshots, patches, tests."""

import asyncio
import posixpath
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from shlex import quote

from sandbox.base import Command, EnvironmentPlan, ExecResult, Limits, TestRun
from sandbox.errors import FileNotFound, NotAllowed, SandboxError
from sandbox.memory import Memory
from sandbox.runner import Actor, Outcome, Runner, Script, Stdin, test_slots
from sandbox.scripts import (
    APPLY,
    DIFF,
    OPEN_UP,
    PACK,
    READ,
    READ_REPORT,
    RESTORE_FILES,
    RESTORE_INDEX,
    SNAPSHOT,
    UNPACK,
    WRITE,
    script,
)
from sandbox.suite.command import REPORT_LIMIT, read_run, suite_command

READ_LIMIT = 1_000_000
PATCH_LIMIT = 20_000_000
PACK_LIMIT = 32_000_000
GIT_TIMEOUT_S = 300.0
TEST_OUTPUT_LIMIT = 2_000_000
LINE_LIMIT = 120_000  # bytes; the kernel takes no argument of more than 128 KiB
PATH_LIMIT = 4096  # bytes, the kernel's


OpenSibling = Callable[[], AbstractAsyncContextManager["ShellWorkspace"]]


class ShellWorkspace:
    """Implements `sandbox.base.Workspace` by scripts a runner carries out.

    `open_sibling` gives a fresh workspace of the same environment, role and run.
    """

    def __init__(
        self, runner: Runner, plan: EnvironmentPlan, limits: Limits, open_sibling: OpenSibling
    ) -> None:
        self.memory = Memory()
        self._runner = runner
        self._plan = plan
        self._limits = limits
        self._open_sibling = open_sibling
        self._layout = runner.layout
        self._git = asyncio.Lock()
        self._snapshots: dict[str, None] = {}  # in the order they were made
        self._memory_kills = 0

    @property
    def path(self) -> str:
        """Absolute path of the tree as commands see it."""
        return self._layout.tree

    async def exec(self, command: Command) -> ExecResult:
        """Run one command; a failing command is a result, not an error.

        Raises NotAllowed for a line the kernel cannot take: over 120 kB, or with a NUL.
        """
        if "\0" in command.line:
            raise NotAllowed("A command line cannot hold the character NUL.")
        if _size(command.line) > LINE_LIMIT:
            raise NotAllowed(
                f"The command line has {_size(command.line) // 1000} kB; at most "
                f"{LINE_LIMIT // 1000} kB can be run. Write the text to a file first."
            )
        outcome = await self._runner.run(
            Script(
                text=command.line,
                stdin=command.stdin,
                timeout_s=command.timeout_s,
                output_limit=command.output_limit,
                env={**dict(self._plan.variables), **command.env},
                merged=True,
                quick=command.quick,
                project=True,
            )
        )
        ended = outcome.exit_code is None or outcome.exit_code > 128
        asked = ended if command.quick else outcome.exit_code != 0  # asking costs a process
        killed = asked and await self._ran_out_of_memory()
        return ExecResult(
            exit_code=None if killed and outcome.exit_code == 137 else outcome.exit_code,
            output=outcome.text,
            duration_s=outcome.duration_s,
            timed_out=outcome.timed_out,
            out_of_memory=killed,
            truncated=outcome.truncated or outcome.flooded,
            disk_limit=outcome.disk_limit,
        )

    async def read(self, path: str) -> str:
        """A file's text, at most 1 MB.

        Raises FileNotFound for what is not a file of the tree, NotAllowed for what is outside,
        unreadable, too large or not UTF-8.
        """
        outcome = await self._runner.run(
            Script(
                text=script(READ, self._layout),
                args=(self._inside(path), str(READ_LIMIT)),
                output_limit=READ_LIMIT + 1,
                quick=True,
            )
        )
        if outcome.exit_code == 5:
            raise NotAllowed(f"{path} is larger than 1 MB; read a part of it by a command.")
        self._check_path(outcome, path)
        try:
            return outcome.stdout.decode()
        except UnicodeDecodeError:
            raise NotAllowed(f"{path} is not UTF-8 text.") from None

    async def write(self, path: str, text: str) -> None:
        """Create or replace a file below the workspace's root; folders are made.

        Raises NotAllowed for a path that is outside or that the file system refuses,
        FileNotFound for a folder, UnicodeEncodeError for text that is no Unicode.
        """
        outcome = await self._runner.run(
            Script(
                text=script(WRITE, self._layout),
                args=(self._inside(path),),
                stdin=text.encode(),
                quick=True,
            )
        )
        self._check_path(outcome, path)

    async def snapshot(self) -> str:
        """Record tracked and untracked files; returns a handle for `restore` and `fork`.

        Repository code can read what is recorded and can neither change nor remove it.
        """
        async with self._git:
            await self._open_up()
            handle = (await self._git_script(SNAPSHOT)).text.strip()
            self._snapshots[handle] = None
            return handle

    async def restore(self, snapshot: str) -> None:
        """Put every file back to a snapshot; raises SandboxError when there is none such."""
        _check_handle(snapshot)
        async with self._git:
            await self._open_up()
            await self._git_script(RESTORE_INDEX, snapshot)
            await self._git_script(RESTORE_FILES, snapshot, actor="sandbox")

    @asynccontextmanager
    async def fork(self, snapshot: str = "") -> AsyncIterator["ShellWorkspace"]:
        """A fresh copy of the environment with a snapshot's files ("" = as they are now).

        It starts with a copy of the memory and knows this workspace's snapshots. Ignored files
        and what the commands changed outside the tree stay behind, processes too. Costs one
        container. Raises NotAllowed when the snapshot differs from the base by more than 32 MB.
        """
        wanted = snapshot or await self.snapshot()
        _check_handle(wanted)
        known, pack = await self._pack(wanted)
        async with self._open_sibling() as child:
            await child._receive(known, pack)
            await child.restore(wanted)
            child.memory = self.memory.copy()
            yield child

    async def diff(self) -> str:
        """The patch against the recorded base: binary, full index, never against HEAD.

        Ends leftover processes first, so nothing changes meanwhile. What the set-up left
        untracked, ignored new files and caches are not in it. "" when nothing changed.
        Text that is not UTF-8 is shown as a binary change. Raises NotAllowed when the patch is
        larger than 20 MB.
        """
        async with self._git:
            await self._runner.end_processes()
            await self._open_up()
            try:
                return (await self._extract()).decode()
            except UnicodeDecodeError:
                return (await self._extract("split")).decode()

    async def apply(self, patch: str) -> ExecResult:
        """Apply a patch without fuzz; nothing changes when it does not apply."""
        if not patch.strip():
            return ExecResult(exit_code=0, output="", duration_s=0.0)
        async with self._git:
            outcome = await self._runner.run(
                Script(
                    text=script(APPLY, self._layout),
                    stdin=patch.encode(),
                    timeout_s=GIT_TIMEOUT_S,
                    output_limit=10_000,
                )
            )
        return ExecResult(
            exit_code=outcome.exit_code,
            output=outcome.text,
            duration_s=outcome.duration_s,
            timed_out=outcome.timed_out,
            truncated=outcome.truncated,
            disk_limit=outcome.disk_limit,
        )

    async def test(self, targets: tuple[str, ...] = ()) -> TestRun:
        """Run the plan's test command, on `targets` (files or runner ids) when given.

        Waits for a free core first. Without a test command, or with targets for a runner that
        cannot take them or that are too long, the result has no verdict and says why.
        """
        report = f"{self._layout.scratch}/report-{secrets.token_hex(8)}"
        command = suite_command(self._plan, self._below(targets), report)
        if command is None:
            why = "No test command is known." if not self._plan.test else "Cannot run parts."
            return TestRun({}, None, 0.0, timed_out=False, structured=False, output=why, why=why)
        line = self._in_directory(command.line)
        if _size(line) > LINE_LIMIT:
            why = f"The targets are longer than {LINE_LIMIT // 1000} kB; name fewer."
            return TestRun({}, None, 0.0, timed_out=False, structured=False, output=why, why=why)
        async with test_slots():
            outcome = await self._runner.run(
                Script(
                    text=line,
                    env=self._test_variables(command.env),
                    timeout_s=self._limits.test_timeout_s,
                    output_limit=TEST_OUTPUT_LIMIT,
                    merged=True,
                    project=True,
                )
            )
            await self._runner.end_processes()
        return read_run(self._plan, outcome, await self._report(report))

    def _below(self, targets: tuple[str, ...]) -> tuple[str, ...]:
        """Targets as the plan's directory sees them."""
        folder = f"{self._plan.directory}/" if self._plan.directory else ""
        return tuple(target.removeprefix(folder) for target in targets)

    def _in_directory(self, line: str) -> str:
        """The line where the plan wants it; 126 when that folder is gone: no verdict."""
        if not self._plan.directory:
            return line
        return f"cd -- {quote(self._inside(self._plan.directory))} || exit 126\n{line}"

    def _test_variables(self, own: Mapping[str, str]) -> dict[str, str]:
        """The plan's variables; options of a runner that both name are put together."""
        given = dict(self._plan.variables)
        return given | {
            name: f"{given[name]} {value}" if name in given else value
            for name, value in own.items()
        }

    async def _extract(self, *args: str) -> bytes:
        outcome = await self._runner.run(
            Script(
                text=script(DIFF, self._layout),
                args=args,
                actor="extract",
                timeout_s=GIT_TIMEOUT_S,
                output_limit=PATCH_LIMIT,
            )
        )
        if outcome.truncated or outcome.flooded:
            raise NotAllowed("The patch is larger than 20 MB.")
        self._check_git(outcome)
        return outcome.stdout

    async def _report(self, path: str) -> bytes | None:
        """None without a report; one that is too large reads as a broken one, "" of bytes."""
        outcome = await self._runner.run(
            Script(READ_REPORT, args=(path, str(REPORT_LIMIT + 1)), output_limit=REPORT_LIMIT)
        )
        if outcome.exit_code != 0:
            return None
        return b"" if outcome.truncated else outcome.stdout

    async def _open_up(self) -> None:
        await self._runner.run(Script(script(OPEN_UP, self._layout), timeout_s=GIT_TIMEOUT_S))

    async def _git_script(self, text: str, *args: str, actor: Actor = "extract") -> Outcome:
        outcome = await self._runner.run(
            Script(script(text, self._layout), args=args, actor=actor, timeout_s=GIT_TIMEOUT_S)
        )
        self._check_git(outcome)
        return outcome

    async def _pack(self, wanted: str) -> tuple[tuple[str, ...], bytes]:
        """All snapshots as one pack, or the wanted one alone where all are too large."""
        for names in (tuple({**self._snapshots, wanted: None}), (wanted,)):
            async with self._git:
                outcome = await self._runner.run(
                    Script(
                        text=script(PACK, self._layout),
                        args=names,
                        actor="extract",
                        timeout_s=GIT_TIMEOUT_S,
                        output_limit=PACK_LIMIT,
                    )
                )
            if not (outcome.truncated or outcome.flooded):
                self._check_git(outcome)
                return names, outcome.stdout
        raise NotAllowed(f"The snapshot is larger than {PACK_LIMIT // 1_000_000} MB.")

    async def _receive(self, names: tuple[str, ...], pack: Stdin) -> None:
        async with self._git:
            outcome = await self._runner.run(
                Script(
                    text=script(UNPACK, self._layout),
                    args=(str(PACK_LIMIT), *names),
                    actor="extract",
                    stdin=pack,
                    timeout_s=GIT_TIMEOUT_S,
                )
            )
            self._check_git(outcome)
            self._snapshots |= dict.fromkeys(names)

    async def _ran_out_of_memory(self) -> bool:
        before, self._memory_kills = self._memory_kills, await self._runner.memory_kills()
        return self._memory_kills > before

    @staticmethod
    def _check_git(outcome: Outcome) -> None:
        if outcome.exit_code != 0:
            raise SandboxError(f"git in the workspace failed: {outcome.reason}")

    @staticmethod
    def _check_path(outcome: Outcome, path: str) -> None:
        if outcome.exit_code == 2:
            raise FileNotFound(f"There is no file {path} in the workspace.")
        if outcome.exit_code == 4:
            raise NotAllowed(f"{path} leads out of the workspace.")
        detail = outcome.stderr.decode(errors="replace").strip()[-300:]
        if outcome.exit_code == 6:
            why = detail.rpartition(": ")[2] or "the path cannot be used"
            raise NotAllowed(f"{path[:200]} cannot be read or written: {why}.")
        if outcome.exit_code != 0:
            raise SandboxError(f"{path} could not be read or written: {outcome.reason}")

    def _inside(self, path: str) -> str:
        """The path relative to the root; absolute ones below it are accepted."""
        root = self._layout.tree + "/"
        relative = path.removeprefix(root) if path.startswith(root) else path
        clean = posixpath.normpath(relative)
        if "\0" in path or clean.startswith(("/", "../")) or clean in {"..", "."}:
            raise NotAllowed(f"{path!r} leads out of the workspace.")
        if _size(clean) > PATH_LIMIT:
            raise NotAllowed(f"{path[:100]!r}… is longer than any path can be.")
        return clean


def _check_handle(snapshot: str) -> None:
    if not (snapshot.isascii() and snapshot.isalnum()):
        raise SandboxError(f"{snapshot[:80]!r} is no snapshot of this workspace.")


def _size(text: str) -> int:
    return len(text.encode(errors="surrogateescape"))
