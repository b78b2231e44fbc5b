"""Stored environments on an engine: list them, and remove what was not used for long.

An environment is one image on top of another: what its set-up installed, which environments of
other commits with the same inputs share. Only images with the label of this installation count.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sandbox.engine.client import APIError, ImageNotFound
from sandbox.engine.state import EnvironmentState

REPOSITORY, DEPENDENCIES = "prism-env", "prism-deps"
ROLE, INSTANCE, BASE, BUILT_ON = "prism.role", "prism.instance", "prism.base", "prism.built-on"
GRACE_S = 3600.0  # what was just prepared may not have a container yet
_DAY_S = 86_400.0
_GB = 1_000_000_000
_KINDS: Mapping[str, "Kind"] = {"environment": "environment", "dependencies": "dependencies"}

Kind = Literal["environment", "dependencies"]


@dataclass(frozen=True, slots=True)
class Stored:
    """One stored image. `created` and `used` are seconds since 1970.

    `tests` is how many tests passed before any patch, of how many ("" when there were none).
    `layers` are the bytes of the images it is made of, by id, without the base image's.
    `built_on` is the commit whose set-up an environment uses, "" when it has its own.
    """

    image: str
    kind: Kind
    repository: str
    commit: str
    key: str
    created: float
    used: float
    tests: str = ""
    layers: Mapping[str, int] = field(default_factory=dict)
    built_on: str = ""

    @property
    def bytes(self) -> int:
        """What it takes on the disk, with what it shares."""
        return sum(self.layers.values())


def list_stored(client: Any, instance: str, last_used: Callable[[str], float]) -> list[Stored]:
    """What this installation stored, most recently used first."""
    found = []
    for summary in client.api.images(filters={"label": f"{INSTANCE}={instance}"}):
        labels = summary["Labels"] or {}
        kind = _KINDS.get(labels.get(ROLE, ""))
        if kind is None or not _tagged(summary):
            continue
        try:
            layers, created = _layers(client, summary["Id"])
        except ImageNotFound:
            continue  # removed meanwhile
        found.append(
            Stored(
                image=summary["Id"],
                kind=kind,
                repository=labels.get("prism.repository", ""),
                commit=labels.get(BASE, ""),
                key=labels.get("prism.key", ""),
                created=created,
                used=max(created, last_used(summary["Id"])),
                tests=labels.get("prism.tests", ""),
                layers=layers,
                built_on=labels.get(BUILT_ON, ""),
            )
        )
    return sorted(map(_shared(found), found), key=lambda item: item.used, reverse=True)


def _shared(found: Sequence[Stored]) -> Callable[[Stored], Stored]:
    """Gives each item the time at which anything that builds on it was used."""

    def used(item: Stored) -> Stored:
        return replace(item, used=max(other.used for other in found if item.image in other.layers))

    return used


def surplus(
    stored: Sequence[Stored], busy: Collection[str], now: float, max_bytes: int, max_age_s: float
) -> list[Stored]:
    """What to remove, least recently used first.

    All that was not used for `max_age_s`, then more until the rest fits into `max_bytes`; never
    what has a container (`busy` are image ids) or was used within the last hour.
    """
    free = [
        item
        for item in sorted(stored, key=lambda item: item.used)
        if item.image not in busy and now - item.used > GRACE_S
    ]
    gone = [item for item in free if now - item.used > max_age_s]
    for item in free:
        if _bytes(kept for kept in stored if kept not in gone) <= max_bytes:
            break
        if item not in gone:
            gone.append(item)
    return gone


def prune(
    client: Any,
    instance: str,
    state: EnvironmentState,
    max_gb: float,
    max_days: float,
    now: float = 0.0,
) -> list[Stored]:
    """Remove the surplus of this installation's environments; returns it.

    `now` 0 is the clock's.
    """
    stored = list_stored(client, instance, state.last_used)
    busy = busy_images(client)
    gone = surplus(stored, busy, now or time.time(), int(max_gb * _GB), max_days * _DAY_S)
    for item in gone:
        remove_image(client, item.image)
    state.tidy({item.image for item in stored if item not in gone})
    return gone


def busy_images(client: Any) -> set[str]:
    """Images that have a container of anybody's, running or not, and those they are built on."""
    busy: set[str] = set()
    for container in client.api.containers(all=True):
        image = container["ImageID"]
        while image and image not in busy:
            busy.add(image)
            try:
                image = client.api.inspect_image(image)["Parent"]
            except ImageNotFound:
                break
    return busy


def remove_environments(client: Any, instance: str, repository: str) -> int:
    """Remove all that an installation stored of a repository (its Source key).

    Returns how many environments.
    """
    removed = 0
    for role, name in (("environment", REPOSITORY), ("dependencies", DEPENDENCIES)):
        labels = [
            f"{INSTANCE}={instance}",
            f"{ROLE}={role}",
            f"prism.repository={repository}",
        ]
        for image in client.api.images(name=name, filters={"label": labels}):
            remove_image(client, image["Id"])
            removed += role == "environment"
    return removed


def remove_image(client: Any, image: str) -> None:
    """Remove an image; one that another builds on stays without a name and goes with it."""
    try:
        names = client.api.inspect_image(image)["RepoTags"]
        for name in names or [image]:
            client.api.remove_image(name)
    except APIError as error:
        if error.status_code not in {404, 409}:
            raise


def _bytes(stored: Any) -> int:
    layers: dict[str, int] = {}
    for item in stored:
        layers.update(item.layers)
    return sum(layers.values())


def _layers(client: Any, image: str) -> tuple[dict[str, int], float]:
    """Own bytes of an image and of those below it that a set-up made; when it was created."""
    layers: dict[str, int] = {}
    above = client.api.inspect_image(image)
    created = datetime.fromisoformat(above["Created"][:19] + "+00:00").timestamp()
    while above["Parent"] and (above["Config"].get("Labels") or {}).get(ROLE, "") in _KINDS:
        below = client.api.inspect_image(above["Parent"])
        layers[above["Id"]] = above["Size"] - below["Size"]
        above = below
    return layers, created


def _tagged(summary: Mapping[str, Any]) -> bool:
    return any(not tag.startswith("<none>") for tag in summary["RepoTags"] or [])
