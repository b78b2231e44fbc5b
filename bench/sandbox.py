"""All measures of the sandbox, side by side in one run: `python bench/sandbox.py [--json]`.

Needs a Docker engine with the base image (`deploy/setup/engine.sh`) and its client. Everything
that is made is removed again. The exit code is 1 when a goal was missed.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

if not __package__:  # as a script: this folder would hide the package of this file's name
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.commands import commands
from bench.copies import copies, prepare, warm
from bench.kill import kills
from bench.measure import Row
from bench.proxied import proxied
from bench.tree import FULL, SMALL
from sandbox.docker import DockerSandbox


async def measure(quick: bool) -> list[Row]:
    """Every row of the table; `quick` does each a few times on a small environment."""
    repository = f"bench/{os.getpid()}"
    sandbox = DockerSandbox(instance=f"bench-{os.getpid()}")
    try:
        with tempfile.TemporaryDirectory(prefix="prism-bench-") as scratch:
            folder = Path(scratch)
            prepared = await prepare(sandbox, folder, repository, SMALL if quick else FULL)
            rows = await copies(sandbox, prepared, 1 if quick else 3)
            rows += await commands(sandbox, prepared.environment, 5 if quick else 40, folder)
            rows += await warm(sandbox, prepared, 2 if quick else 5)
            rows += await kills(sandbox, prepared.environment, 5 if quick else 100)
            return rows + await proxied(prepared.base, 1 if quick else 3)
    finally:
        await sandbox.remove_environments(repository)
        await sandbox.close()


def shown(rows: list[Row]) -> str:
    """The table in Markdown, with what it was measured on."""
    lines = [f"| measure | value | goal | | {machine()} |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        value = "–" if row.value is None else f"{row.value:.2f}"
        goal = "" if row.goal is None else f"≤ {row.goal:g}"
        verdict = "" if row.goal is None else "missed" if row.is_missed else "held"
        lines.append(f"| {row.name} | {value} | {goal} | {verdict} | {row.detail} |")
    return "\n".join(lines)


def machine() -> str:
    """Cores, load, kernel and day: what the figures of another run differ by."""
    load = os.getloadavg()[0]
    day = datetime.now(UTC).date().isoformat()
    return f"{os.cpu_count()} cores, load {load:.1f}, Linux {platform.release()}, {day}"


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the figures with goals, as JSON")
    parser.add_argument("--quick", action="store_true", help="few rounds, a small tree")
    asked = parser.parse_args()
    rows = asyncio.run(measure(asked.quick))
    if asked.json:
        print(json.dumps({row.key: row.value for row in rows if row.key}, indent=2))
    else:
        print(shown(rows))
    return int(any(row.is_missed for row in rows))


if __name__ == "__main__":
    sys.exit(main())
