"""Whose containers are whose: find those that nobody uses any more.

Every container carries the process that made it (an image may pass the mark of an earlier one
on, so everything that makes containers sets it). One is an orphan when that process is gone, or
when it is this process and the container is not in use here: then its removal failed. Another
process's containers are never touched while it lives, whatever run they belong to.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.engine.client import APIError

OWNER = "prism.process"
PREFIX = "prism-"  # of the names that this process gives; the engine makes up others
IN_USE: set[str] = set()  # names of this process's containers; a name is unique on the engine
_GONE_OR_GOING = {404, 409}


@cache
def this_process() -> str:
    """Process id, start time and pid namespace: a later process never has all three."""
    return _identity(os.getpid())


def remove_orphans(client: Any, instance: str, alone: bool = False) -> int:
    """Remove the instance's containers that nobody uses, and drafts of images; returns how many.

    A process in another pid namespace cannot be seen: what it made stays unless the caller knows
    to be `alone`, as a worker that holds the lock of its data folder does.
    """
    label = f"prism.instance={instance}"
    removed = 0
    for container in client.api.containers(all=True, filters={"label": label}):
        if _is_orphan(container["Labels"].get(OWNER, ""), container["Names"], alone):
            removed += _removed(client.api.remove_container, container["Id"], force=True, v=True)
    for image in client.api.images(filters={"label": [label, OWNER], "dangling": True}):
        if _is_gone(image["Labels"][OWNER], alone):
            removed += _removed(client.api.remove_image, image["Id"])
    return removed


def _is_orphan(owner: str, names: list[str], alone: bool) -> bool:
    if owner == this_process():  # one without a given name lives for two calls only
        name = next(iter(names), "").removeprefix("/")
        return name.startswith(PREFIX) and name not in IN_USE
    return _is_gone(owner, alone)


def _is_gone(owner: str, alone: bool) -> bool:
    pid, _, rest = owner.partition(".")
    namespace = rest.rpartition(".")[2]
    if namespace != this_process().rpartition(".")[2] or not pid.isdigit():
        return alone
    return _identity(int(pid)) != owner


def _identity(pid: int) -> str:
    """`pid.start.namespace`, without a start time when there is no such process."""
    try:
        # The name, in brackets, may hold anything; the start time is the 20th field after it.
        start = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        start = ""
    return f"{pid}.{start}.{os.stat('/proc/self/ns/pid').st_ino}"


def _removed(remove: Any, found: str, **options: bool) -> bool:
    try:
        remove(found, **options)
    except APIError as error:
        if error.status_code not in _GONE_OR_GOING:
            raise
        return False
    return True
