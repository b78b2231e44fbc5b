"""`prism doctor`: one line for each part, and for what is wrong one sentence on what to do."""

import asyncio
from collections.abc import Awaitable, Callable

from rich.console import Console
from rich.markup import escape

from app.checks import Check, Problem
from app.github.client import GitHubApp
from app.github.errors import GitHubError, GitHubUnavailable, Refused
from app.isolation import examine_sandbox, try_attacks
from app.jobs.embedded import EmbeddedRedisFailed, redis_url
from app.jobs.queue import Queue, QueueUnavailable
from app.ledger.engine import open_ledger
from app.ledger.errors import NotMigrated
from app.ledger.migrate import is_older, require_migrated
from app.models import asked_models, key_of, provider_of, require_models
from app.settings import Settings, SettingsError, require_data_dir, require_webhook_secret
from pipeline.errors import ModelUnavailable, PipelineError
from pipeline.model.prices import read_prices
from pipeline.model.probe import check_model
from sandbox.attacks.render import as_table
from sandbox.errors import SandboxError

NEEDED = {"contents": "write", "issues": "write", "pull_requests": "write", "metadata": "read"}
EXPECTED = (Problem, SettingsError, SandboxError, PipelineError, GitHubError, OSError)
_LEVELS = {"read": 1, "write": 2, "admin": 3}


def run_doctor(settings: Settings, attacks: bool = False) -> int:
    """Print every check; returns 0 when all parts work, 1 otherwise.

    With `attacks` every attack of the table is tried too and the table printed: about a minute,
    and 1 as well when one of them succeeds.
    """
    console = Console()
    checks = asyncio.run(examine(settings))
    for check in checks:
        _show(console, check)
    is_well = not any(check.problem for check in checks)
    if attacks:
        results = asyncio.run(try_attacks(settings))
        console.print(as_table(results))
        is_well = is_well and all(result.verdict != "not held" for result in results)
    return 0 if is_well else 1


def _show(console: Console, check: Check) -> None:
    mark, text = ("[red]✗[/]", check.problem) if check.problem else ("[green]✔[/]", check.found)
    console.print(f"{mark} {check.name}: {escape(text)}", soft_wrap=True)
    for note in check.notes:
        console.print(f"  [yellow]–[/] {escape(note)}", soft_wrap=True, highlight=False)


async def examine(settings: Settings) -> tuple[Check, ...]:
    """All checks, one after the other; costs one model call of one token."""
    parts: tuple[tuple[str, Callable[[Settings], Awaitable[str]]], ...] = (
        ("webhook secret", _secret),
        ("data folder", _data_folder),
        ("redis", _redis),
        ("database", _database),
        ("model", _model),
        ("github app", _github),
    )
    checks = [await _examined(name, part(settings)) for name, part in parts]
    return (*checks, *await _sandbox(settings))


async def _examined(name: str, part: Awaitable[str]) -> Check:
    try:
        return Check(name, await part)
    except EXPECTED as error:
        return Check(name, "", str(error))


async def _sandbox(settings: Settings) -> tuple[Check, ...]:
    try:
        return await examine_sandbox(settings)
    except EXPECTED as error:
        return (Check("container engine", "", str(error)),)


async def _secret(settings: Settings) -> str:
    require_webhook_secret(settings)
    return "long enough"


async def _data_folder(settings: Settings) -> str:
    require_data_dir(settings)
    return f"{settings.data_dir.absolute()} can be written into"


async def _redis(settings: Settings) -> str:
    try:
        with redis_url(settings) as url:
            queue = Queue(url)
            try:
                await queue.ping()
            finally:
                await queue.close()
    except QueueUnavailable as error:
        raise Problem(f"{error} Check REDIS_URL, or unset it to use the embedded one.") from error
    except EmbeddedRedisFailed as error:
        raise Problem(f"{error} Install the `demo` extra or set REDIS_URL.") from error
    return "answers" if settings.redis_url else "embedded, answers"


async def _database(settings: Settings) -> str:
    if not settings.has_database:
        return "SQLite, made at the first start"
    engine = open_ledger(settings.database)
    try:
        await require_migrated(engine)
    except NotMigrated as error:
        if not is_older(error.found):
            raise Problem(str(error)) from error
        return "reachable; tables are brought up to date at the next start"
    finally:
        await engine.dispose()
    return "reachable, tables up to date"


async def _model(settings: Settings) -> str:
    require_models(settings)
    found, provider = asked_models(settings), provider_of(settings)
    prices, key, url = read_prices(settings.prices), key_of(settings), settings.model_url
    try:
        for name in found:
            await check_model(key, url, name, prices, provider, deadline_s=10)
    except ModelUnavailable as error:
        raise Problem(f"{error} Check the network, then {provider.keys}.") from error
    shown = ", ".join(f"{name} ({', '.join(roles)})" for name, roles in found.items())
    return f"{shown} at {url or settings.provider} answers"


async def _github(settings: Settings) -> str:
    if not settings.app_id or not settings.private_key:
        raise Problem("APP_ID and PRIVATE_KEY are not set: create the App from app.yml first.")
    app = GitHubApp(settings)
    try:
        identity = await app.identity()
        missing = missing_permissions(await app.permissions())
    except Refused as error:
        raise Problem(f"{error}. Check that APP_ID and PRIVATE_KEY belong together.") from error
    except GitHubUnavailable as error:
        raise Problem(f"{error} Check GHE_HOST and this machine's network.") from error
    if missing:
        raise Problem(
            f"The App {identity.slug} lacks permissions: {', '.join(missing)}. Grant them in the "
            "App's settings and accept them in each installation."
        )
    return f"{identity.slug} (App {identity.app_id}) with the permissions it needs"


def missing_permissions(granted: dict[str, str]) -> tuple[str, ...]:
    """What the App may not do though it has to, as `name: level`."""
    return tuple(
        f"{name}: {level}"
        for name, level in NEEDED.items()
        if _LEVELS.get(granted.get(name, ""), 0) < _LEVELS[level]
    )
