"""A stored, signed delivery of the emulated GitHub, and the admission that looks at it."""

import json
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from app.admission.admit import admit
from app.admission.authorise import Admission
from app.github.client import GitHubApp
from app.ledger import inbox
from app.ledger.inbox import Delivery
from app.settings import Settings
from emulator.github import git_store
from emulator.github.cli import use_manifest
from emulator.github.git_store import NO_SHA
from emulator.github.hub import GitHub
from emulator.github.records import Installation, Issue, Repository
from emulator.github.running import running


@dataclass(frozen=True, slots=True)
class Office:
    """An emulated GitHub, a ledger, and admission between them."""

    hub: GitHub
    repo: Repository
    installation: Installation
    admission: Admission
    ledger: AsyncEngine

    async def receive(self) -> str:
        """Store the newest delivery as intake does and return its id."""
        newest = self.hub.webhooks.deliveries[-1]
        delivery = Delivery(
            guid=newest.guid,
            event=newest.event,
            action=newest.action or "",
            semantic_key=newest.guid,
            installation_id=newest.installation_id or 0,
            repository_id=newest.repository_id,
            body=json.dumps(newest.payload).encode(),
        )
        await inbox.insert(self.ledger, delivery)
        return newest.guid

    async def decide(self) -> tuple[list[str], str]:
        """Admit the newest delivery; returns the runs to wake and the outcome noted."""
        guid = await self.receive()
        run_ids = await admit(self.admission, guid)
        stored = await inbox.load(self.ledger, guid)
        assert stored is not None
        return run_ids, stored.outcome or ""

    def branch(self, name: str) -> None:
        """A branch with one commit on top of the default branch."""
        tip = git_store.branch_sha(self.repo.path, self.repo.default_branch)
        git_store.update_reference(self.repo.path, f"refs/heads/{name}", tip or "", NO_SHA)
        self.hub.seed(self.repo, {"a.py": "x = 2\n"}, branch=name)

    def texts(self, issue: Issue) -> list[str]:
        """What the App wrote below an issue."""
        return [comment.body for comment in issue.comments if comment.via_app]

    def calls(self, method: str = "") -> list[str]:
        """Paths of the requests to the API."""
        seen = [each for each in self.hub.requests if method in ("", each["method"])]
        return [each["path"] for each in seen]


@pytest.fixture
async def office(tmp_path: Path, ledger: AsyncEngine, app_key: Path) -> AsyncIterator[Office]:
    """`acme/widgets`, default branch `trunk`, the App installed on all repositories."""
    shutil.copytree(app_key, tmp_path / "github")
    hub = GitHub(tmp_path / "github")
    use_manifest(hub, Path(__file__).parents[3] / "app.yml")
    async with running(hub):
        hub.webhooks.timeout_s = 0.1
        hub.webhook("http://127.0.0.1:9/", "a secret of sixteen bytes")  # nobody listens
        repo = hub.add_repository("widgets", "trunk", private=True)
        hub.seed(repo, {"a.py": "x = 1\n"})
        installation = hub.install()
        settings = Settings(
            app_id=str(hub.app_id),
            private_key=hub.key.pem,
            ghe_host=hub.url.removeprefix("http://"),
            ghe_protocol="http",
            data_dir=tmp_path / "data",
        )
        admission = Admission(ledger, settings, GitHubApp(settings))
        yield Office(hub, repo, installation, admission, ledger)
        assert hub.violations == []
