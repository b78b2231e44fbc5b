"""`python -m emulator github`: a seeded GitHub that says in a file where it is."""

import json
from pathlib import Path
from typing import Any

import click
import yaml

from emulator.github.hub import GitHub
from emulator.github.records import Installation, Repository
from emulator.github.server import create_app
from emulator.serving import HOST, listen, serve, tell, url_of


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Where to keep it.")
@click.option("--port", default=0, help="0 takes a free port.")
@click.option("--host", default=HOST)
@click.option("--ready", type=click.Path(path_type=Path), help="Written when it listens.")
@click.option("--org", default="acme", help="The organisation's login.")
@click.option("--app-slug", default="prism")
@click.option("--app-manifest", type=click.Path(path_type=Path, exists=True), help="app.yml")
@click.option("--repo", "repos", multiple=True, help="NAME=FOLDER_OR_BARE_REPOSITORY_OR_BUNDLE")
@click.option("--private", is_flag=True, help="Make the repositories private.")
@click.option("--default-branch", default="main")
@click.option("--issue", "issues", multiple=True, type=click.Path(path_type=Path, exists=True))
@click.option("--webhook", help="Where deliveries go.")
@click.option("--webhook-secret", default="emulated-webhook-secret-of-32-bytes")
@click.option("--install/--no-install", default=True, help="Install on all repositories.")
@click.option("--short-tokens", is_flag=True, help="ghs_ and 36 characters, as before 2026.")
def github(data: Path, port: int, host: str, ready: Path | None, **options: Any) -> None:
    """Serve a local GitHub until Ctrl-C. --issue FILE.md opens an issue (first line: title)."""
    listener = listen(port, host)
    hub = GitHub(data, options["app_slug"], options["org"])
    hub.url = url_of(listener)
    hub.long_tokens = not options["short_tokens"]
    if options["app_manifest"] is not None:
        use_manifest(hub, options["app_manifest"])
    repositories = [_add(hub, each, options) for each in options["repos"]]
    if options["webhook"]:
        hub.webhook(options["webhook"], options["webhook_secret"])
    installation = hub.install() if options["install"] else None
    for path in options["issues"]:
        _open_issue(hub, repositories, path)
    if ready is not None:
        facts = _facts(hub, installation, options["webhook_secret"])
        tell(ready, json.dumps(facts, indent=2) + "\n")
    serve(create_app(hub), listener)
    hub.close()


def use_manifest(hub: GitHub, path: Path) -> None:
    """Take the App's permissions and events from its manifest (`app.yml`)."""
    manifest = yaml.safe_load(path.read_text(encoding="utf-8"))
    hub.permissions = {"metadata": "read", **manifest.get("default_permissions", {})}
    hub.events = tuple(manifest.get("default_events", ()))


def _add(hub: GitHub, argument: str, options: dict[str, Any]) -> Repository:
    name, equals, source = argument.partition("=")
    if not name or (equals and not Path(source).exists()):
        raise click.BadParameter(f"{argument}: NAME=PATH is needed, and PATH must exist")
    repo = hub.add_repository(name, options["default_branch"], private=options["private"])
    if equals:
        hub.seed(repo, Path(source))
    return repo


def _open_issue(hub: GitHub, repositories: list[Repository], path: Path) -> None:
    if not repositories:
        raise click.UsageError("--issue needs a --repo to open it in")
    title, _, body = path.read_text(encoding="utf-8").partition("\n")
    hub.open_issue(repositories[0], title.lstrip("# ").strip(), body.strip())


def _facts(hub: GitHub, installation: Installation | None, secret: str) -> dict[str, Any]:
    return {
        "url": hub.url,
        "api_url": f"{hub.url}/api/v3",
        "app_id": hub.app_id,
        "app_slug": hub.app_slug,
        "private_key_path": str(hub.key.path.resolve()),
        "webhook_secret": secret,
        "installation_id": None if installation is None else installation.id,
        "owner": hub.org.login,
        "repositories": [each.name for each in hub.repositories.values()],
        "maintainer": hub.maintainer.login,
        "maintainer_token": hub.token_for(hub.maintainer),
    }
