"""A repository that nothing recognises: its tests run by `sh run-checks.sh`."""

import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest

from app.github.source import MirrorSource, local_source
from emulator.model.server import create_app
from emulator.serving import serving
from pipeline.environment.prepare import Prepared, prepare_environment
from pipeline.journal import JsonLinesJournal
from pipeline.model.gateway import AnthropicModel
from pipeline.services import PipelineStage, RunConfig, Services
from sandbox.base import EnvironmentPlan, Sandbox, SetupShell, Source
from sandbox.process import ProcessSandbox
from tests.fakes import LocalWorkspace

CHECKS = {
    "run-checks.sh": "test -f installed && grep -q 42 answer.txt\n",
    "answer.txt": "42\n",
    "README.md": "# Answer\n\n```sh\ntouch installed\nsh run-checks.sh   # runs the tests\n```\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  t:\n    steps:\n    - run: sh run-checks.sh\n",
}


@contextmanager
def committed(folder: Path, files: Mapping[str, str]) -> Iterator[MirrorSource]:
    """A real repository with these files, as a source."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "base"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    with local_source(folder) as source:
        yield source


@dataclass
class Heard:
    """`pipeline.services.Progress` that keeps the notes."""

    notes: list[str] = field(default_factory=list)

    async def update(self, stage: PipelineStage, done: int, total: int, note: str = "") -> None:
        self.notes.append(note)


@dataclass
class Office:
    """One run on one repository: its sandbox, journal and money; the model plays `script`."""

    folder: Path
    source: MirrorSource
    sandbox: Sandbox
    limit_usd: float = 10.0
    calls: list[str] = field(default_factory=list)
    progress: Heard = field(default_factory=Heard)

    async def prepare(self, script: Mapping[str, Any], issue: str = "") -> Prepared:
        """Prepare the environment; a second call is what happens after a crash."""
        ledger = JsonLinesJournal(self.folder / "run.jsonl", self.limit_usd)
        with serving(create_app(script)) as url:
            try:
                async with AnthropicModel(
                    "key", url, "claude-sonnet-4-6", "", ledger, "run", backoff_s=0.01
                ) as model:
                    services = Services(
                        "run",
                        model,
                        self.sandbox,
                        self.source,
                        ledger,
                        ledger,
                        self.progress,
                        RunConfig(),
                    )
                    return await prepare_environment(services, issue)
            finally:
                async with httpx.AsyncClient() as client:
                    asked = (await client.get(f"{url}/_emulator/calls")).json()
                self.calls = [each["address"] for each in asked]


class QuickSandbox(ProcessSandbox):
    """Plain processes; what an agent tries is tried in a bare folder, without a venv of its own."""

    @asynccontextmanager
    async def setup_shell(
        self, source: Source, plan: EnvironmentPlan, run: str
    ) -> AsyncIterator[SetupShell]:
        files = {path: (await source.read(path) or b"").decode() for path in await source.files()}
        with TemporaryDirectory() as folder:
            yield LocalWorkspace(Path(folder), files)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MirrorSource]:
    """The repository of CHECKS, the same for all tests, so that replays are found again."""
    with committed(tmp_path_factory.mktemp("repository"), CHECKS) as source:
        yield source


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where environments are kept."""
    return tmp_path_factory.mktemp("environments")


@pytest.fixture
def office(tmp_path: Path, shared: MirrorSource, environments: Path) -> Iterator[Any]:
    """Makes an office over the shared repository or over given files."""
    with ExitStack() as stack:

        def make(files: Mapping[str, str] | None = None, **fields: Any) -> Office:
            source = shared
            if files is not None:
                source = stack.enter_context(committed(tmp_path / "repository", files))
            sandbox = QuickSandbox(data_dir=environments, allow=True)
            return Office(tmp_path, source, sandbox, **fields)

        yield make
