"""The documents name only what exists: commands, links, settings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import click
import pytest
import yaml

from app.cli import main

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    str(path.relative_to(ROOT)) for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))
)
# At the start of a line, in the virtual environment, or in the worker's container.
COMMAND = re.compile(r"^(?:.*bin/|.*worker )?prism (\w+)([^\n|]*)", re.MULTILINE)
SETTING = re.compile(r"^(?:PRISM_|APP_|ANTHROPIC_|PRIVATE_|WEBHOOK_|GHE_|LOG_|REDIS_|DATABASE_)")


def test_all_documents_are_looked_at() -> None:
    """The glob finds the documents an operator is sent to."""
    wanted = {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/operating.md"}
    assert wanted <= set(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_make_targets_exist(name: str) -> None:
    """Every `make <target>` in a document is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for code in _code(name) for target in re.findall(r"\bmake ([a-z]+)", code)}
    assert named <= targets


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_and_their_options_exist(name: str) -> None:
    """Every `prism <command> --option …` in a document is one of the command line's."""
    for code in _code(name):
        for command, rest in COMMAND.findall(code):
            assert command in main.commands, f"prism {command}"
            found = main.commands[command]
            if isinstance(found, click.Group):
                word = (rest.split() or [""])[0]
                assert word in found.commands, f"prism {command} {word}"
                found = found.commands[word]
            options = re.findall(r"--[a-z][a-z-]*", rest.partition("#")[0])
            assert set(options) <= _options(found)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files(name: str) -> None:
    """Every relative link or picture in a document is a file of this repository."""
    text = (ROOT / name).read_text()
    links = re.findall(r"\]\(([^)#\s]+)", text)
    missing = [
        link
        for link in links
        if not urlsplit(link).scheme and not (ROOT / name).parent.joinpath(link).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_paths_of_the_tree_exist(name: str) -> None:
    """Every `app/…`, `deploy/…` and so on that a document names in full is there."""
    spans = re.findall(r"`([^`\n<>…*]+)`", (ROOT / name).read_text())
    folders = "app|pipeline|sandbox|emulator|deploy|docs|tests"
    paths = {span for span in spans if re.fullmatch(rf"(?:{folders})/[\w./-]*", span)}
    made_by_operators = {"deploy/prism.env"}
    assert [path for path in sorted(paths - made_by_operators) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_settings_are_documented(name: str) -> None:
    """Every setting a document names has a row in docs/configuration.md."""
    page = (ROOT / "docs/configuration.md").read_text()
    known = set(re.findall(r"`([A-Z_]+)`", page))
    words = set(re.findall(r"\b[A-Z][A-Z_]*[A-Z]\b", " ".join(_code(name))))
    assert {word for word in words if SETTING.match(word)} <= known


def test_defaults_in_the_readme_are_those_of_the_configuration_page() -> None:
    """A default of a single setting is told in the same way in both tables."""
    there = dict(_defaults("docs/configuration.md"))
    here = dict(_defaults("README.md"))
    assert here
    assert {name: there[name] for name in here} == here


def test_the_address_that_creates_the_app_asks_for_what_the_manifest_asks() -> None:
    """The form it fills in has the permissions and events of app.yml, and no other."""
    manifest: dict[str, Any] = yaml.safe_load((ROOT / "app.yml").read_text())
    readme = (ROOT / "README.md").read_text()
    (address,) = re.findall(r"^https://\S+/settings/apps/new\?\S+$", readme, re.MULTILINE)
    query = parse_qs(urlsplit(address).query, strict_parsing=True)
    events = query.pop("events[]")
    details = {"name", "url", "public", "webhook_active", "webhook_url"}

    assert events == manifest["default_events"]
    assert {key: value[0] for key, value in query.items() if key not in details} == manifest[
        "default_permissions"
    ]
    assert query["public"] == [str(manifest["public"]).lower()]


def test_the_setting_of_the_repository_in_the_readme_is_valid() -> None:
    """The example of `.github/prism.yml` is read as it stands."""
    from sandbox.environment.config import parse_config

    (example,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    config = parse_config(example.encode())
    assert config.setup
    assert config.test


def _code(name: str) -> Iterator[str]:
    """What stands in backticks: blocks, then spans."""
    text = (ROOT / name).read_text()
    blocks = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
    yield from blocks.findall(text)
    yield from re.findall(r"`([^`\n]+)`", blocks.sub("", text))


def _options(command: click.Command) -> set[str]:
    return {option for each in command.params for option in each.opts} | {"--help"}


def _defaults(name: str) -> Iterator[tuple[str, str]]:
    """Name and default of each table row about one setting."""
    for line in (ROOT / name).read_text().splitlines():
        row = re.match(r"\| `([A-Z_]+)` \| ([^|]+) \|", line)
        if row:
            yield row[1], row[2].strip()
