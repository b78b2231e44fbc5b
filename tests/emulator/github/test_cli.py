"""The emulator as a process of its own, as the demo starts it."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator.github.cli import use_manifest


async def started(tmp_path: Path, *arguments: str) -> tuple[asyncio.subprocess.Process, Any]:
    """Start it and read the facts it writes when it listens."""
    ready = tmp_path / "ready.json"
    fixed = ["--data", str(tmp_path / "data"), "--ready", str(ready)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "emulator", "github", *fixed, *arguments
    )
    while not ready.exists():
        assert process.returncode is None
        await asyncio.sleep(0.05)
    return process, json.loads(ready.read_text())


async def test_process(tmp_path: Path) -> None:
    """It is seeded from a folder, opens the issue, tells where it is and ends at SIGTERM."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_text("a = 1\n")
    issue = tmp_path / "issue.md"
    issue.write_text("# Wrong value\n\n`a` should be 2.\n")
    process, facts = await started(
        tmp_path, "--org", "widgets", "--repo", f"lib={source}", "--issue", str(issue)
    )
    try:
        assert set(facts) >= {
            "url",
            "api_url",
            "app_id",
            "private_key_path",
            "webhook_secret",
            "installation_id",
            "owner",
            "repositories",
            "maintainer",
            "maintainer_token",
        }
        headers = {"Authorization": f"Bearer {facts['maintainer_token']}"}
        async with httpx.AsyncClient(verify=False, headers=headers) as client:
            found = await client.get(f"{facts['api_url']}/repos/widgets/lib/issues/1")
            assert found.json()["title"] == "Wrong value"
            assert found.json()["body"] == "`a` should be 2."
            page = await client.get(f"{facts['url']}/widgets/lib/blob/main/a.py")
            assert "a = 1" in page.text
        assert os.stat(facts["private_key_path"]).st_mode & 0o077 == 0
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 10)


@pytest.mark.parametrize("argument", ["lib=/nowhere/at/all", "=x"])
async def test_bad_repository(tmp_path: Path, argument: str) -> None:
    """A source that is not there is named in one sentence."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "emulator", "github", "--data", str(tmp_path), "--repo", argument),
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert b"PATH must exist" in errors


def test_manifest(hub: Any, tmp_path: Path) -> None:
    """Permissions and events come from the App's manifest."""
    path = tmp_path / "app.yml"
    path.write_text("default_permissions:\n  issues: write\ndefault_events: [issues]\n")
    use_manifest(hub, path)
    assert hub.permissions == {"metadata": "read", "issues": "write"}
    assert hub.events == ("issues",)
