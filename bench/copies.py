"""Twelve ready copies of one prepared environment; and an environment kept, not made again."""

import asyncio
import subprocess
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.engine import docker, remove, run_detached
from bench.measure import Row, in_turn, ratio, seconds
from bench.tree import BenchSource, Size, make_repository
from sandbox.base import Command, Environment, EnvironmentPlan, Workspace
from sandbox.docker import DockerSandbox
from sandbox.engine.client import Engine

COPIES = 12
RUN = "bench"
# One tree for both ways: the workspace with its .git, and what was installed.
_TREE = ("/workspace", "/opt/venv")


@dataclass(frozen=True, slots=True)
class Prepared:
    """One prepared environment, what it took, and the same tree as a tar file."""

    source: BenchSource
    plan: EnvironmentPlan
    environment: Environment
    cold_s: float
    tar: Path
    base: str


async def prepare(sandbox: DockerSandbox, folder: Path, repository: str, size: Size) -> Prepared:
    """Set the repository up through the product, cold, and take the tree out once."""
    source = await asyncio.to_thread(make_repository, folder / "repository", repository, size)
    # Like an installer: what is there already is not written again.
    fill = (
        "test -d /opt/venv/lib/package000 || python tools/fill.py /opt/venv/lib "
        f"{size.installed_files} {size.installed_mb}000000"
    )
    plan = EnvironmentPlan("python", (fill,), "python -c pass", "exit_code", "bench")
    cold: list[Environment] = []

    async def set_up() -> None:
        cold.append(await sandbox.prepare(source, plan, RUN))

    cold_s = await seconds(set_up)
    tar = folder / "tree.tar"
    reference = cold[0].reference
    name = await run_detached(reference, "--network", "none")
    try:
        pack = f"docker exec -u 0 {name} tar -c -C / {' '.join(_TREE)} > {tar}"
        process = await asyncio.create_subprocess_shell(pack, stderr=asyncio.subprocess.DEVNULL)
        if await process.wait() != 0:
            raise RuntimeError("The prepared tree could not be taken out.")
    finally:
        await remove([name])
    parent = await docker("image", "inspect", "-f", "{{.Parent}}", reference)
    base = await docker("image", "inspect", "-f", "{{.Parent}}", parent.strip())
    return Prepared(source, plan, cold[0], cold_s, tar, base.strip())


async def copies(sandbox: DockerSandbox, prepared: Prepared, rounds: int) -> list[Row]:
    """Twelve workspaces at once against `docker run` and a copy of the tree, one by one.

    The twelve copies are spread over the rounds, so that both ways meet the same machine.
    """
    disk: list[int] = []
    times: list[float] = []

    async def ours() -> None:
        async with AsyncExitStack() as stack:

            async def one() -> Workspace:
                return await stack.enter_async_context(
                    sandbox.workspace(prepared.environment, "candidate", RUN)
                )

            async def all_of_them() -> None:
                ready.extend(await asyncio.gather(*(one() for _ in range(COPIES))))

            ready: list[Workspace] = []
            times.append(await seconds(all_of_them))
            disk.append(await _written())
            await _require_apart(ready)

    theirs: list[float] = []

    async def reference() -> None:
        theirs.extend(await _plain_copies(prepared, COPIES // rounds))

    await in_turn(rounds, ours, reference)
    twelve = sum(theirs) * COPIES / len(theirs)
    mb = median(disk) / 1_000_000
    detail = f"{median(times):.2f} s against {twelve:.1f} s for twelve of docker run and docker cp"
    size = prepared.tar.stat().st_size / 1_000_000
    return [
        Row("copies_ratio", "12 copies / 12 x run + copy", median(times) / twelve, 0.15, detail),
        Row("copies_seconds", "12 copies ready, s", median(times), 2.5, f"median of {rounds}"),
        Row("copies_disk_mb", "12 copies, extra MB", mb, 12.0, f"of a tree of {size:.0f} MB"),
    ]


async def _plain_copies(prepared: Prepared, count: int) -> list[float]:
    """Seconds of each `docker run` with a copy of the tree, one by one."""
    names: list[str] = []

    async def copy() -> None:
        names.append(await run_detached(prepared.base, "--network", "none"))
        with prepared.tar.open("rb") as tar:
            process = await asyncio.create_subprocess_exec(
                "docker", "cp", "-", f"{names[-1]}:/", stdin=tar
            )
            if await process.wait() != 0:
                raise RuntimeError("docker cp failed")

    (found,) = await in_turn(count, copy)
    await remove(names)
    return found


async def warm(sandbox: DockerSandbox, prepared: Prepared, rounds: int) -> list[Row]:
    """A kept environment against the set-up it spares, each until a workspace is ready."""

    async def ready() -> None:
        environment = await sandbox.prepare(prepared.source, prepared.plan, RUN)
        async with sandbox.workspace(environment, "candidate", RUN):
            pass

    (kept,) = await in_turn(rounds, ready)
    cold = prepared.cold_s
    return [
        Row(
            "env_warm_ratio",
            "kept environment / cold set-up",
            ratio(kept, [cold]),
            0.1,
            f"{median(kept):.2f} s against {cold:.1f} s, suite included",
        ),
    ]


async def _written() -> int:
    """Bytes the bench's workspaces take on the engine's disk.

    Blocks in use in their folders where those can be seen from here, with the engine's own files
    on each container; else what the engine counts in their writable layers.
    """
    engine = Engine()
    try:
        found = await engine.call(
            lambda c: [
                (container.get("SizeRw", 0), c.api.inspect_container(container["Id"]))
                for container in c.api.containers(size=True, filters={"label": f"prism.run={RUN}"})
            ]
        )
    finally:
        await engine.close()
    return sum([max(int(counted), _on_disk(container)) for counted, container in found])


def _on_disk(container: Mapping[str, Any]) -> int:
    layer = Path(container["GraphDriver"]["Data"].get("UpperDir", "")).parent
    places = [layer, Path(f"{layer}-init"), Path(container["ResolvConfPath"]).parent]
    here = [str(place) for place in places if place.is_dir()]
    if len(here) < len(places):
        return 0
    du = ["du", "-skx", *here]  # not into the mounted root
    rows = subprocess.run(du, capture_output=True, text=True, check=False).stdout.splitlines()
    return sum(int(row.split()[0]) for row in rows) * 1024


async def _require_apart(ready: list[Workspace]) -> None:
    """Twelve that share a file would be no copies."""
    for number, workspace in enumerate(ready):
        await workspace.write("mine.txt", str(number))
    for number, workspace in enumerate(ready):
        if await workspace.read("mine.txt") != str(number):
            raise RuntimeError("Two workspaces share a file.")
        if not (await workspace.exec(Command("test -s src/part000/module0.py"))).ok:
            raise RuntimeError("A workspace lacks the tree.")
