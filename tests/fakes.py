"""Stand-ins that several tests share: a folder with git as a workspace, a budget in memory."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from typing import Any

from emulator.model.server import create_app
from emulator.serving import serving
from pipeline.errors import BudgetExhausted
from pipeline.model.gateway import AnthropicModel
from pipeline.services import Budget, CallAddress
from pipeline.values import Usage
from sandbox.base import Command, ExecResult, TestRun
from sandbox.errors import FileNotFound, NotAllowed
from sandbox.memory import Memory


class MemorySource:
    """`sandbox.base.Source` over a dict; it cannot be unpacked."""

    repository = "1/shop"
    base_commit = "0" * 40

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    async def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    async def blobs(self) -> dict[str, str]:
        return {path: sha1(text.encode()).hexdigest() for path, text in self._files.items()}

    async def read(self, path: str) -> bytes | None:
        text = self._files.get(path)
        return None if text is None else text.encode()

    async def archive(self) -> AsyncIterator[bytes]:
        raise NotImplementedError
        yield b""


class LocalWorkspace:
    """`sandbox.base.Workspace` over a plain folder and real git, without any isolation.

    `test` runs `python <target>` for each target and judges by the exit code.
    """

    def __init__(self, root: Path, files: Mapping[str, str]) -> None:
        self.root = root
        self.tested: list[tuple[str, ...]] = []
        self.memory = Memory()
        root.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            self._write(path, text)
        self._git("init", "-q", "-b", "main")
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", "base")
        self.base = self._git("rev-parse", "HEAD").strip()

    @property
    def path(self) -> str:
        return str(self.root)

    async def exec(self, command: Command) -> ExecResult:
        start = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-c",
            command.line,
            cwd=self.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        timed_out = False
        try:
            raw, _ = await asyncio.wait_for(process.communicate(command.stdin), command.timeout_s)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raw, timed_out = (await process.communicate())[0], True
        half, truncated = command.output_limit // 2, len(raw) > command.output_limit
        if truncated:
            raw = raw[:half] + b"\n[cut]\n" + raw[-half:]
        code = None if timed_out else process.returncode
        text = raw.decode(errors="replace")
        return ExecResult(code, text, time.monotonic() - start, timed_out, truncated=truncated)

    async def read(self, path: str) -> str:
        if not (self.root / path).resolve().is_relative_to(self.root.resolve()):
            raise NotAllowed(f"{path} leads out of the workspace.")
        try:
            return (self.root / path).read_bytes().decode()
        except (FileNotFoundError, IsADirectoryError):
            raise FileNotFound(f"There is no file {path}.") from None
        except UnicodeDecodeError:
            raise NotAllowed(f"{path} is not UTF-8 text.") from None

    async def write(self, path: str, text: str) -> None:
        self._write(path, text)

    async def snapshot(self) -> str:
        self._git("add", "-A")
        return self._git("write-tree").strip()

    async def restore(self, snapshot: str) -> None:
        self._git("read-tree", "--reset", "-u", snapshot)
        self._git("clean", "-qfd")

    @asynccontextmanager
    async def fork(self, snapshot: str = "") -> AsyncIterator["LocalWorkspace"]:
        wanted = snapshot or await self.snapshot()
        with tempfile.TemporaryDirectory() as folder:
            child = LocalWorkspace(Path(folder), {})
            child.base, child.memory = self.base, self.memory.copy()
            objects = child.root / ".git/objects/info/alternates"
            objects.write_text(f"{self.root}/.git/objects\n")
            await child.restore(wanted)
            yield child

    async def diff(self) -> str:
        self._git("add", "-A")
        return self._git("diff", "--cached", "--no-renames", "--binary", "--full-index", self.base)

    async def apply(self, patch: str) -> ExecResult:
        return await self.exec(Command("git apply --whitespace=nowarn -", stdin=patch.encode()))

    async def test(self, targets: tuple[str, ...] = ()) -> TestRun:
        self.tested.append(targets)
        results, output = {}, ""
        for target in targets:
            ran = await self.exec(Command(f"{sys.executable} {target}", 60.0))
            results[target] = "pass" if ran.ok else "fail"
            output += ran.output
        return TestRun(results, 0, 0.1, timed_out=False, structured=True, output=output)

    def _write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())

    def _git(self, *arguments: str) -> str:
        who = {
            f"GIT_{role}_{key}": "test@example.org"
            for role in ("AUTHOR", "COMMITTER")
            for key in ("NAME", "EMAIL")
        }
        ran = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env={**os.environ, **who},
            capture_output=True,
            check=True,
        )
        return ran.stdout.decode()


@dataclass(slots=True)
class MemoryBudget:
    """`pipeline.services.Budget` without a ledger; keeps every reservation to look at."""

    limit_usd: float = 100.0
    reserved: list[tuple[str, float]] = field(default_factory=list)
    settled: dict[int, tuple[Usage, str]] = field(default_factory=dict)

    async def reserve(
        self,
        address: CallAddress,
        request_hash: str,
        worst_usd: float,
        *,
        tokens: int = 0,
        role: str = "",
    ) -> int:
        spent = (await self.spent()).cost_usd
        if spent + worst_usd > self.limit_usd:
            raise BudgetExhausted(self.limit_usd, spent)
        self.reserved.append((str(address), worst_usd))
        return len(self.reserved) - 1

    async def settle(self, handle: int, usage: Usage, stop_reason: str) -> None:
        self.settled[handle] = (usage, stop_reason)

    async def stages(self) -> dict[str, Usage]:
        return {"": await self.spent()}

    async def spent(self) -> Usage:
        used = [usage for usage, _ in self.settled.values()]
        return Usage(
            sum(usage.calls for usage in used),
            sum(usage.input_tokens for usage in used),
            sum(usage.cached_tokens for usage in used),
            sum(usage.output_tokens for usage in used),
            sum(usage.cost_usd for usage in used),
        )


@contextmanager
def emulated_model(script: Mapping[str, Any]) -> Iterator[str]:
    """The base URL of a model emulator that plays `script`."""
    with serving(create_app(script)) as url:
        yield url


@asynccontextmanager
async def scripted_model(
    script: Mapping[str, Any], budget: Budget | None = None
) -> AsyncIterator[AnthropicModel]:
    """The real gateway against an emulator that plays `script`; retries pause for milliseconds."""
    with emulated_model(script) as url:
        budget = budget or MemoryBudget()
        async with AnthropicModel(
            "key", url, "claude-sonnet-4-6", "", budget, "run", backoff_s=0.01
        ) as model:
            yield model
