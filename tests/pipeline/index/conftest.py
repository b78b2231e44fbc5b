"""Each test of the index begins with nothing in memory."""

from collections import OrderedDict

import pytest

from pipeline.index.rank import prepare


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tests that make the same commit in the same second make one id, and one is remembered."""
    monkeypatch.setattr(prepare, "_memory", OrderedDict())
