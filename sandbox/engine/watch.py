"""Bound what containers write to the engine's disk, where the engine itself sets no quota.

One task asks the engine, about once a second, how much each watched container has written. What
is over its limit is ended, and so is the largest when the disk itself runs low. A burst between
two looks can exceed a limit by what the disk takes in that time.
"""

import asyncio
import logging
import os
import time
import weakref
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sandbox.base import Limits
from sandbox.engine.client import APIError, Engine, Exec, NotFound
from sandbox.engine.containers import KEEPER, SANDBOX
from sandbox.errors import SandboxError
from sandbox.runner import HARNESS, SHELL
from sandbox.scripts import END_PROCESSES

MB = 1024 * 1024
_LOG = logging.getLogger(__name__)
_PATH_KEY = b'"Path":'
_STATFS = "stat -f -c '%S %a %f %b %d %c' /"
# Open files whose names were removed: they fill a disk and no listing of names shows them.
_UNNAMED = "stat -L -c '%h %d:%i %b' /proc/[0-9]*/fd/* 2>/dev/null | grep '^0 ' | sort -u"


@dataclass(slots=True)
class Watched:
    """What is known about one container. `kills` counts how often its processes were ended.

    `used` bytes and `files` are what it has written since it was started, as last seen;
    `unnamed` bytes are in open files whose names were removed. -1 files: not counted, because
    the disk has hardly lost any.
    """

    name: str
    limits: Limits
    used: int = 0
    unnamed: int = 0
    files: int = -1
    kills: int = 0
    stopped: bool = False
    allowed: int = 0
    allowed_files: int = 0
    # Two that end processes at once would end each other.
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.allowed = self.limits.disk_mb * MB
        self.allowed_files = self.limits.files

    @property
    def exceeded(self) -> bool:
        """Whether its processes were ever ended for the disk's sake."""
        return self.kills > 0

    @property
    def over(self) -> bool:
        """Whether it uses more than it may now (after a kill: more than it had then)."""
        return self.written > self.allowed or self.files > self.allowed_files

    @property
    def written(self) -> int:
        """All bytes that are known."""
        return self.used + self.unnamed


@dataclass(frozen=True, slots=True)
class Free:
    """What is left on the engine's disk; `files` is None where the file system has no limit."""

    bytes: int
    files: int | None


@dataclass(slots=True)
class _Group:
    """What one event loop watches, with the one task that does it."""

    containers: dict[str, Watched] = field(default_factory=dict)
    task: "asyncio.Task[None] | None" = None
    seen: Free | None = None  # what was free at the last look
    most_files: int = 0  # free since files were last counted
    most_bytes: int = 0  # free and written together, since unnamed files were last looked for


class DiskWatch:
    """Ends containers that fill the engine's disk. One per sandbox; costs nothing while idle.

    `floor_mb` and `floor_files` are what must stay free for everybody: below, the largest
    watched container is ended, one per look, until there is room again.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        interval_s: float = 1.0,
        floor_mb: int = 1024,
        floor_files: int = 50_000,
    ) -> None:
        self._engine = engine
        self._interval_s = interval_s
        self._floor = Free(floor_mb * MB, floor_files)
        self._groups: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Group] = (
            weakref.WeakKeyDictionary()
        )
        self._local: str | None = None  # a folder here on the engine's disk; "" when there is none

    @asynccontextmanager
    async def watching(self, name: str, limits: Limits) -> AsyncIterator[Watched]:
        """Watch a running container until the context is left."""
        group = self._groups.setdefault(asyncio.get_running_loop(), _Group())
        watched = Watched(name, limits)
        group.containers[name] = watched
        if group.task is None:
            group.task = asyncio.create_task(self._watch(group))
        try:
            yield watched
        finally:
            del group.containers[name]
            if not group.containers and group.task is not None:
                task, group.task = group.task, None
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _watch(self, group: _Group) -> None:
        while True:
            start = time.monotonic()
            try:
                await self._look(group)
            except (SandboxError, APIError, NotFound) as error:
                _LOG.warning("The engine's disk could not be looked at: %s", error)
            # A slow look (many files) must not keep the engine busy all the time.
            await asyncio.sleep(max(self._interval_s, 2 * (time.monotonic() - start)))

    async def _look(self, group: _Group) -> None:
        sizes = await self._engine.call(lambda c: _sizes(c, tuple(group.containers)))
        running = [w for name, w in group.containers.items() if name in sizes]
        for watched in running:
            watched.used = sizes[watched.name]
        if not running:
            return
        free = await self._free(running)
        if free is not None:
            await self._find_unnamed(group, running, free)
            await self._count_files(group, running, free)
        await asyncio.gather(*(self._judge(watched) for watched in running))
        if free is not None and _below(free, self._floor):
            await self._make_room(running, free, falling=_below(free, group.seen or free))
        group.seen = free

    async def _find_unnamed(self, group: _Group, running: list[Watched], free: Free) -> None:
        """Look into open files when the disk lost more than the containers' names explain."""
        known = free.bytes + sum(watched.written for watched in running)
        group.most_bytes = max(group.most_bytes, known)
        if known > group.most_bytes - 64 * MB and not any(w.unnamed for w in running):
            return
        for watched in running:
            watched.unnamed = await self._unnamed(watched.name)
        group.most_bytes = free.bytes + sum(watched.written for watched in running)

    async def _count_files(self, group: _Group, running: list[Watched], free: Free) -> None:
        """Count files when as many are gone from the disk as would be a quarter of a limit."""
        if free.files is None:
            return
        group.most_files = max(group.most_files, free.files)
        some = min(watched.limits.files for watched in running) // 4
        if free.files > group.most_files - some and not any(w.kills for w in running):
            return
        group.most_files = free.files
        for watched in running:
            count = partial(_files, name=watched.name, most=4 * watched.limits.files)
            with suppress(NotFound, APIError):  # it ended meanwhile
                watched.files = await self._engine.call(count)

    async def _judge(self, watched: Watched) -> None:
        """End what is over; let one that has made room again have its whole limit."""
        limits = watched.limits
        if watched.over:
            await self._end(watched)
        elif watched.written <= limits.disk_mb * MB and watched.files <= limits.files:
            watched.allowed, watched.allowed_files = limits.disk_mb * MB, limits.files

    async def _make_room(self, running: list[Watched], free: Free, *, falling: bool) -> None:
        """End the largest; when none has written much, whoever was ended least, while it falls.

        The second is for what hides what it writes: somebody has to be ended for the disk.
        """
        largest = max(running, key=lambda w: (w.written, w.files))
        if largest.written <= 64 * MB and largest.files <= 10_000:
            if not falling:
                return
            largest = min(running, key=lambda w: w.kills)
        _LOG.warning(
            "The engine's disk has %d MB and %s files left; ended what %s was running.",
            *(free.bytes // MB, free.files, largest.name),
        )
        await self._end(largest)

    async def _end(self, watched: Watched) -> None:
        """End its processes; stop the container when that fails or it has twice its limit.

        What was written stays readable, and a little more may be, so that somebody can look and
        remove; the next kill comes for what is beyond that.
        """
        watched.kills += 1  # first: whoever waits for a command must know why it ended
        limits = watched.limits
        hopeless = watched.used > 2 * limits.disk_mb * MB or watched.files > 2 * limits.files
        watched.unnamed = 0
        watched.allowed = max(watched.allowed, watched.used + min(64, limits.disk_mb) * MB)
        watched.allowed_files = max(watched.allowed_files, watched.files + 1000)
        if not hopeless and await self._end_processes(watched):
            return
        watched.stopped = True
        _LOG.warning(
            "Stopped %s: it wrote %d MB and %d files.",
            *(watched.name, watched.used // MB, max(0, watched.files)),
        )
        with suppress(NotFound, APIError):  # it ended by itself
            await self._engine.call(lambda c: c.api.kill(watched.name))

    async def _end_processes(self, watched: Watched) -> bool:
        argv = [SHELL, "-c", END_PROCESSES, "prism", ""]
        try:
            async with watched.ending:
                done = await self._engine.exec(
                    watched.name, Exec(argv, SANDBOX, HARNESS, "/", timeout_s=15)
                )
        except SandboxError:
            return False
        return done.exit_code == 0

    async def _unnamed(self, name: str) -> int:
        """Bytes in open files without a name; a process that forbids to be looked at hides them."""
        rows = await self._shell(name, SANDBOX, _UNNAMED)
        fields = [row.split() for row in rows.splitlines()]
        return sum(int(row[2]) * 512 for row in fields if len(row) == 3 and row[2].isdigit())

    async def _free(self, running: list[Watched]) -> Free | None:
        """From here when the engine's folder is on a disk of this machine, else by a command."""
        if self._local is None:
            self._local = await self._find_local(running[0].name)
        if not self._local:
            return _read_free(await self._shell(running[0].name, KEEPER, _STATFS))
        return await asyncio.to_thread(_statvfs, self._local)

    async def _find_local(self, name: str) -> str:
        """The engine's folder as seen from here; "" when it is another machine's."""
        folder = await self._engine.call(lambda c: str(c.info().get("DockerRootDir", "")))
        there = _read_total(await self._shell(name, KEEPER, _STATFS))
        with suppress(OSError):
            here = os.statvfs(folder)
            if there == (here.f_frsize * here.f_blocks, here.f_files):
                return folder
        return ""

    async def _shell(self, name: str, user: str, line: str) -> str:
        try:
            command = Exec([SHELL, "-c", line], user, HARNESS, "/", timeout_s=10)
            return (await self._engine.exec(name, command)).text
        except SandboxError:  # it ended, or cannot start a command just now
            return ""


def _sizes(client: Any, names: Collection[str]) -> dict[str, int]:
    """Bytes that each running container of `names` has written."""
    filters = {"name": [f"^/{name}$" for name in names]}
    found = client.api.containers(size=True, filters=filters)
    return {row["Names"][0].lstrip("/"): max(0, row.get("SizeRw", 0)) for row in found}


def _files(client: Any, name: str, most: int) -> int:
    """Names a container has added, changed or removed; counting ends at `most`.

    The engine's list is not kept: it would be as large as whoever is watched likes.
    """
    api = client.api
    count, rest = 0, b""
    with api._get(api._url("/containers/{0}/changes", name), stream=True) as response:
        api._raise_for_status(response)
        for chunk in response.iter_content(65536):
            data = rest + chunk
            count += data.count(_PATH_KEY)
            rest = data[len(data) - len(_PATH_KEY) + 1 :] if len(data) >= len(_PATH_KEY) else data
            if count >= most:
                break
    return count


def _read_free(text: str) -> Free | None:
    fields = text.split()
    if len(fields) != 6:
        return None
    size, available, _, _, files, all_files = map(int, fields)
    return Free(size * available, files if all_files else None)


def _read_total(text: str) -> tuple[int, int] | None:
    fields = text.split()
    return (int(fields[0]) * int(fields[3]), int(fields[5])) if len(fields) == 6 else None


def _statvfs(folder: str) -> Free:
    found = os.statvfs(folder)
    return Free(found.f_frsize * found.f_bavail, found.f_favail if found.f_files else None)


def _below(free: Free, floor: Free) -> bool:
    if free.bytes < floor.bytes:
        return True
    return free.files is not None and floor.files is not None and free.files < floor.files
