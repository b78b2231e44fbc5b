"""`python -m emulator scenario NAME`: everything a demo or a `prism fix` of it needs, as files."""

import asyncio
from pathlib import Path

import click

from emulator.model.script import save
from emulator.scenarios.play import script
from emulator.scenarios.repository import base_files, repository
from emulator.scenarios.scenario import load, names
from emulator.scenarios.sdist import fetch


@click.command()
@click.argument("name", type=click.Choice(names()))
@click.option("--dir", "folder", type=click.Path(path_type=Path), required=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Where archives are kept.")
def scenario(name: str, folder: Path, cache: Path | None) -> None:
    """Write repository/, issue.md and script.json of a scenario below --dir, which must be new."""
    played = load(name)
    archive = asyncio.run(fetch(played.sdist, cache or folder / "cache"))
    tree = repository(played, archive, folder / "repository")
    (folder / "issue.md").write_text(f"# {played.title}\n\n{played.body}", encoding="utf-8")
    save(script(played, base_files(played, tree)), folder / "script.json")
    click.echo(folder)
