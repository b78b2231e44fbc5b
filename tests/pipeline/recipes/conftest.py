"""The tiny repository and its environment, prepared once for a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.github.source import MirrorSource, local_source
from tests import small
from tests.indexed import commit


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MirrorSource]:
    """The tiny repository at its one commit."""
    folder = tmp_path_factory.mktemp("calc")
    commit(folder, small.FILES)
    with local_source(folder) as found:
        yield found


@pytest.fixture(scope="module")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where environments are kept, so that they are prepared once for all tests."""
    return tmp_path_factory.mktemp("environments")
