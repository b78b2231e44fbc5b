"""The scenarios with their projects from the package index, fetched once per test session."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.scenarios.repository import repository
from emulator.scenarios.scenario import Scenario, load, names
from emulator.scenarios.sdist import fetch


@pytest.fixture(params=names(), scope="session")
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """Each scenario in turn."""
    return load(request.param)


@pytest.fixture(scope="session")
def archive_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Scenario], Path]:
    """The archive of a scenario's project."""
    cache = tmp_path_factory.mktemp("sdists")
    return lambda scenario: asyncio.run(fetch(scenario.sdist, cache))


@pytest.fixture(scope="session")
def base(
    scenario: Scenario,
    archive_of: Callable[[Scenario], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A repository of the scenario; tests leave it as it is."""
    return repository(scenario, archive_of(scenario), tmp_path_factory.mktemp("base") / "tree")
