"""A scenario's repository: the same commit everywhere, and every patch fits it."""

import ast
import subprocess
from collections.abc import Callable
from pathlib import Path

import yaml

from emulator.scenarios.repository import CONFIG, base_files, repository
from emulator.scenarios.scenario import Scenario
from pipeline.choose.normalise import key
from sandbox.patch.patch import apply, parse


def git(where: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=where, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_commit_is_the_same_everywhere(
    scenario: Scenario, archive_of: Callable[[Scenario], Path], base: Path, tmp_path: Path
) -> None:
    """Two repositories of one scenario have the same commit on main and a clean tree."""
    again = repository(scenario, archive_of(scenario), tmp_path / "again")
    assert git(again, "rev-parse", "main") == git(base, "rev-parse", "main")
    assert git(again, "status", "--porcelain", "--ignored") == ""


def test_the_configuration_is_committed(scenario: Scenario, base: Path) -> None:
    """`.github/prism.yml` holds the set-up and the test command."""
    env = yaml.safe_load(git(base, "show", f"main:{CONFIG}"))["env"]
    assert tuple(env["setup"]) == scenario.environment.setup
    assert env["test"] == scenario.environment.test


def test_every_patch_applies_with_git(scenario: Scenario, base: Path) -> None:
    """No patch needs fuzz or offsets beyond what git allows."""
    for each in scenario.candidates:
        git(base, "apply", "--check", "--whitespace=error-all", "-", stdin=each.patch)


def test_places_exist(scenario: Scenario, base: Path) -> None:
    """Plans point to files and lines that are there; changes name files that exist."""
    for each in scenario.candidates:
        for place in each.context:
            lines = len((base / place.path).read_text().splitlines())
            assert 0 <= place.start <= place.end <= lines, (each.id, place)
            name = place.symbol.rpartition(".")[2]
            assert name in (base / place.path).read_text(), (each.id, place)
        for change in each.changes:
            assert (base / change.path).is_file(), (each.id, change)


def test_reproductions_are_new_files(scenario: Scenario, base: Path) -> None:
    """A reproduction never replaces a file of the project, and it parses."""
    for each in scenario.candidates:
        if each.reproduction:
            assert not (base / each.reproduction[0]).exists()
            ast.parse(each.reproduction[1])


def test_equal_changes_are_grouped_as_intended(scenario: Scenario, base: Path) -> None:
    """Normalisation puts exactly those together that are meant to be the same change."""
    groups: dict[str, list[str]] = {}
    for each in scenario.candidates:
        before = {part.path: (base / part.path).read_text() for part in parse(each.patch)}
        after = {part.path: apply(part, before[part.path]) for part in parse(each.patch)}
        same = key(each.patch, before, after) or each.id  # nothing changed: alone
        groups.setdefault(same, []).append(each.id)
    assert {frozenset(group) for group in groups.values()} == {
        frozenset(group) for group in scenario.intended.groups
    }


def test_base_files_are_those_that_patches_change(scenario: Scenario, base: Path) -> None:
    """The builder gets the text of every file it has to edit."""
    changed = {part.path for each in scenario.candidates for part in parse(each.patch)}
    assert base_files(scenario, base) == {path: (base / path).read_text() for path in changed}
