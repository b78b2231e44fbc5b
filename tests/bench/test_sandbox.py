"""The bench itself: it runs to its end, reports every figure, and leaves nothing behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KEYS = [
    "copies_ratio",
    "copies_seconds",
    "copies_disk_mb",
    "exec_sdk_ratio",
    "exec_runner_ratio",
    "env_warm_ratio",
    "kill_ms_p95",
    "kill_survivors",
    "proxy_ratio",
]


@pytest.mark.engine
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_every_figure_is_reported() -> None:
    """A reduced run prints exactly the figures with goals; no process survives its time limit."""
    command = [sys.executable, "bench/sandbox.py", "--quick", "--json"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr  # a busy machine may miss a goal
    found = json.loads(ran.stdout)
    assert list(found) == KEYS
    assert found["kill_survivors"] == 0
    assert all(found[key] > 0 for key in KEYS if key != "kill_survivors")
    listed = ["docker", "ps", "-aq", "--filter", "label=prism.bench"]
    assert subprocess.run(listed, capture_output=True, text=True, check=True).stdout == ""
