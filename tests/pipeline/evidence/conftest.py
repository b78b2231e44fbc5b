"""The fixture that makes a setting over a small real repository."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from sandbox.base import SuiteRunner
from tests.fakes import MemorySource
from tests.pipeline.evidence.small_repository import (
    FILES,
    FolderSandbox,
    MakeSetting,
    Setting,
    plan,
)


@pytest.fixture
def bench(tmp_path: Path) -> MakeSetting:
    """Makes settings; all of a test share the journal's file, as before and after a restart."""

    def make(
        files: Mapping[str, str] = FILES, runner: SuiteRunner = "pytest", timeout_s: float = 60.0
    ) -> Setting:
        folders = tmp_path / "folders"
        folders.mkdir(exist_ok=True)
        sandbox = FolderSandbox(folders, files, plan(runner), timeout_s)
        return Setting(sandbox, MemorySource(files), tmp_path / "journal.jsonl")

    return make
