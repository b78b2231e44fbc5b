"""Which repository `prism env` is asked about: a local one, or one the App is installed on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.github.client import GitHubApp
from app.github.errors import MirrorFailed, NotFound
from app.github.mirror import Remote, is_repository
from app.github.source import MirrorSource, checkout, local_source
from app.ledger.engine import open_ledger
from app.ledger.errors import NotMigrated
from app.ledger.installations import find_repository
from app.ledger.migrate import require_migrated
from app.settings import Settings, SettingsError, require_data_dir
from pipeline.errors import EmptyRepository


@asynccontextmanager
async def repository(settings: Settings, named: str, commit: str) -> AsyncIterator[MirrorSource]:
    """The source of a folder, else of an installed `owner/name`, at `commit` ("" = its newest).

    Raises SettingsError for a name that is neither, MirrorFailed for a folder without a
    repository or an unknown commit, EmptyRepository where there is nothing to set up.
    """
    folder = _folder(named)
    if folder is not None:
        with local_source(folder, commit or "HEAD") as source:
            yield await _with_files(source)
    elif is_repository(named):
        yield await _with_files(await _installed(settings, named, commit))
    else:
        raise SettingsError(f"There is no folder {named}, and it is no `owner/name` on GitHub.")


def _folder(named: str) -> Path | None:
    path = Path(named).expanduser()
    if path.exists() and not path.is_dir():
        raise SettingsError(f"{named} is a file; name the repository's folder.")
    return path if path.is_dir() else None


async def _with_files(source: MirrorSource) -> MirrorSource:
    if not await source.files():
        raise EmptyRepository(f"Commit {source.base_commit[:12]} holds no file.")
    return source


async def _installed(settings: Settings, name: str, commit: str) -> MirrorSource:
    if not settings.app_id or not settings.private_key:
        raise SettingsError(
            f"There is no folder {name}; for a repository on GitHub, APP_ID and PRIVATE_KEY (or "
            "PRIVATE_KEY_PATH) of the App are needed."
        )
    require_data_dir(settings)
    installation_id, repository_id = await _ids(settings, name)
    github = GitHubApp(settings)
    async with github.repository(installation_id, repository_id, name, "read") as repo:
        try:
            now = await repo.info()
        except NotFound:
            raise MirrorFailed(f"GitHub does not show {name} to this App any more.") from None
    token = await github.token(installation_id, repository_id, "read")
    remote = Remote(settings.github_url, now.full_name, token)
    return await checkout(
        settings.data_dir, installation_id, repository_id, remote, now.default_branch, commit
    )


async def _ids(settings: Settings, name: str) -> tuple[int, int]:
    engine = open_ledger(settings.database)
    try:
        await require_migrated(engine)
        found = await find_repository(engine, name)
    except NotMigrated as error:
        raise SettingsError(f"The ledger knows no repository yet. {error}") from error
    finally:
        await engine.dispose()
    if found is None:
        raise SettingsError(
            f"There is no folder {name}, and no delivery told that the App is installed on such "
            "a repository. Check the name; label an issue there once when it is right."
        )
    return found
