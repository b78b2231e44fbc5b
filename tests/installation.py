"""A whole installation for tests: emulators in this process, web and worker as real processes."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from app.demo.processes import Processes, child_environment
from app.jobs.embedded import free_port
from app.ledger.engine import open_ledger, reading
from app.ledger.items import Item, list_items
from app.ledger.runs import Run, latest_for_issue
from app.ledger.tables import inbox
from emulator.github.hub import GitHub
from emulator.github.records import Comment, Installation, Repository, User
from emulator.github.running import running
from emulator.model.script import Script
from emulator.model.server import create_app
from emulator.serving import serving
from tests import small

SECRET = "a-webhook-secret-of-tests-only-0123456789"
PATIENCE_S = 120.0


@dataclass
class Prism:
    """What a test can see and do."""

    hub: GitHub
    repository: Repository
    installation: Installation
    model_url: str
    data: Path
    processes: Processes
    environ: dict[str, str]
    issue: int = 0
    workers: int = field(default=0, init=False)

    def elsewhere(
        self,
        name: str,
        title: str = small.TITLE,
        body: str | None = small.BODY,
        *,
        files: Mapping[str, str] = small.FILES,
        default_branch: str = "main",
    ) -> "Prism":
        """The same installation, seen from an issue of a new repository (without files: empty)."""
        repository = self.hub.add_repository(name, default_branch, private=True)
        if files:
            self.hub.seed(repository, dict(files), "Start")
        issue = self.hub.open_issue(repository, title, body).number
        return replace(self, repository=repository, issue=issue)

    def label(self, label: str = "Prism-Fix", user: User | None = None) -> None:
        """Label the issue (as the maintainer when None)."""
        self.hub.add_label(self.repository, self.issue, label, user)

    def comment(self, text: str, user: User | None = None) -> Comment:
        """Comment on the issue (as the maintainer when None)."""
        return self.hub.comment(self.repository, self.issue, text, user)

    async def decided(self) -> list[str]:
        """What became of every delivery about this repository that left a row, oldest first."""
        await asyncio.to_thread(self.hub.webhooks.settle)

        async def all_decided() -> tuple[list[str]] | None:
            found = await self._outcomes()
            return None if None in found else ([str(each) for each in found],)

        (outcomes,) = await self.until(all_decided)
        return list(outcomes)

    async def _outcomes(self) -> list[str | None]:
        rows = select(inbox.c.outcome).where(inbox.c.repository_id == self.repository.id)
        engine = open_ledger(f"sqlite+aiosqlite:///{self.data / 'prism.db'}")
        try:
            async with reading(engine) as conn:
                return list((await conn.execute(rows.order_by(inbox.c.received_at))).scalars())
        finally:
            await engine.dispose()

    def start_worker(self) -> str:
        """Start a worker process; returns its name."""
        self.workers += 1
        name = f"worker{self.workers}"
        argv = [sys.executable, "-m", "app.cli", "worker"]
        self.processes.start(name, argv, child_environment(self.environ))
        return name

    async def run(self) -> Run | None:
        """The issue's latest run."""
        engine = open_ledger(f"sqlite+aiosqlite:///{self.data / 'prism.db'}")
        try:
            return await latest_for_issue(
                engine, self.installation.id, self.repository.id, self.issue
            )
        finally:
            await engine.dispose()

    async def items(self, run_id: str) -> list[Item]:
        """The items of a run."""
        engine = open_ledger(f"sqlite+aiosqlite:///{self.data / 'prism.db'}")
        try:
            return await list_items(engine, run_id)
        finally:
            await engine.dispose()

    async def ended(self, generation: int = 1) -> Run:
        """Wait until the run of a generation has ended."""

        async def over() -> Run | None:
            run = await self.run()
            return run if run and run.generation == generation and not run.is_active else None

        return await self.until(over)

    async def until(self, look: Callable[[], Any]) -> Any:
        """Wait for a truthy answer."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.processes.check()
            if found := await look():
                return found
            await asyncio.sleep(0.1)
        logs = "\n".join(f"{name}\n{self.processes.tail(name)}" for name in self.processes.names())
        raise AssertionError(f"Nothing happened within {PATIENCE_S:.0f} s.\n{logs}")

    async def model(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the emulated model's own addresses."""
        async with httpx.AsyncClient(base_url=self.model_url) as client:
            answer = await client.request(method, f"/_emulator/{path}", json=body)
            answer.raise_for_status()
            return answer.json() if answer.content else None

    async def calls(self) -> list[dict[str, Any]]:
        """Every model call that arrived, in order."""
        found: list[dict[str, Any]] = await self.model("GET", "calls")
        return found

    @property
    def pulls(self) -> list[Any]:
        """All pull requests."""
        return [each for each in self.repository.issues.values() if each.pull is not None]

    @property
    def comments(self) -> list[Any]:
        """All comments on the issue."""
        return list(self.repository.issues[self.issue].comments)


@asynccontextmanager
async def installed(
    folder: Path, script: Script, *, worker: bool = True, **settings: str
) -> AsyncIterator[Prism]:
    """Everything up and running, with the App installed on a repository that has one issue."""
    hub = GitHub(folder / "github")
    port = free_port()
    with serving(create_app(script)) as model_url:
        async with running(hub):
            hub.webhook(f"http://127.0.0.1:{port}/api/github/webhooks", SECRET)
            repository = hub.add_repository("calc", private=True)
            hub.seed(repository, dict(small.FILES), "Start")
            environ = {
                "APP_ID": str(hub.app_id),
                "PRIVATE_KEY_PATH": str(hub.key.path),
                "WEBHOOK_SECRET": SECRET,
                "GHE_HOST": hub.url.partition("://")[2],
                "GHE_PROTOCOL": "http",
                "PORT": str(port),
                "PRISM_DATA_DIR": str(folder / "data"),
                "PRISM_SANDBOX": "process",
                "PRISM_LEASE_SECONDS": "3",
                "PRISM_SWEEP_SECONDS": "1",
                "ANTHROPIC_API_KEY": "key",
                "ANTHROPIC_BASE_URL": model_url,
                **settings,
            }
            with Processes(folder / "logs") as processes:
                argv = [sys.executable, "-m", "app.cli", "serve"]
                processes.start("serve", argv, child_environment(environ))
                processes.wait_for_port(port)
                prism = Prism(
                    hub, repository, hub.install(), model_url, folder / "data", processes, environ
                )
                prism.issue = hub.open_issue(repository, small.TITLE, small.BODY).number
                if worker:
                    prism.start_worker()
                yield prism
            assert hub.violations == []
