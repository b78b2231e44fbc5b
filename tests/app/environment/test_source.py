"""An installed repository is found by its name, with the App's own rights."""

import shutil
from pathlib import Path

import pytest

from app.environment.source import repository
from app.github.errors import GitHubError, MirrorFailed
from app.ledger import installations
from app.ledger.engine import open_ledger
from app.ledger.migrate import migrate
from app.settings import Settings, SettingsError, require_data_dir
from emulator.github.cli import use_manifest
from emulator.github.hub import GitHub
from emulator.github.running import running


async def test_a_name_leads_to_the_default_branch(app_key: Path, tmp_path: Path) -> None:
    """By the ledger's ids and a token that only reads; unknown names and commits are told."""
    shutil.copytree(app_key, tmp_path / "github")
    hub = GitHub(tmp_path / "github")
    use_manifest(hub, Path(__file__).parents[3] / "app.yml")
    async with running(hub):
        made = hub.add_repository("widgets", "trunk", private=True)
        first = hub.seed(made, {"check.sh": "true\n"})
        installation = hub.install()
        settings = Settings(
            app_id=str(hub.app_id),
            private_key=hub.key.pem,
            ghe_host=hub.url.removeprefix("http://"),
            ghe_protocol="http",
            data_dir=tmp_path / "data",
        )
        require_data_dir(settings)
        ledger = open_ledger(settings.database)
        await migrate(ledger)
        await installations.add_repositories(ledger, installation.id, {made.id: made.full_name})
        await ledger.dispose()

        async with repository(settings, made.full_name.upper(), "") as source:
            assert await source.files() == ("check.sh",)
            assert source.base_commit == first
        with pytest.raises(MirrorFailed, match="no longer on the branch"):
            async with repository(settings, made.full_name, "0" * 40):
                pass
        with pytest.raises(SettingsError, match="no delivery told"):
            async with repository(settings, "acme/other", ""):
                pass
        hub.uninstall(installation)
        with pytest.raises(GitHubError):
            async with repository(settings, made.full_name, ""):
                pass
    assert hub.violations == []
