"""Find the base image environments are built on."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from sandbox.engine.client import APIError, ImageNotFound
from sandbox.errors import EngineUnavailable

RECIPE = Path(__file__).parents[2] / "deploy" / "sandbox"


class _Images(Protocol):
    def get(self, name: str) -> Any: ...
    def pull(self, repository: str) -> Any: ...
    def list(self, *, filters: dict[str, list[str]]) -> Iterable[Any]: ...


class _Client(Protocol):
    @property
    def images(self) -> _Images: ...


def recipe_hash() -> str:
    """The name of the image `deploy/sandbox/build.sh` makes; "" outside a checkout."""
    parts = [RECIPE / "build.sh", RECIPE / "packages.txt"]
    if not all(part.is_file() for part in parts):
        return ""
    return sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:16]


def base_image(client: _Client, setting: str = "") -> str:
    """The id of the image to build environments on.

    `setting` (PRISM_SANDBOX_IMAGE) may be any reference; it is pulled when the engine lacks
    it. Without it: the image of this checkout's recipe, else the newest base image there is.
    Raises EngineUnavailable with what to do.
    """
    if setting:
        return _given(client, setting)
    recipe = recipe_hash()
    # By name in a checkout: what is built from the base image inherits its labels.
    wanted = {"reference": [f"prism-base:{recipe}"]} if recipe else {"label": ["prism.role=base"]}
    found = list(client.images.list(filters=wanted))
    if not found:
        raise EngineUnavailable(
            "The sandbox's base image is missing: run deploy/setup/engine.sh, or set "
            "PRISM_SANDBOX_IMAGE to an image with bash, git and the languages you need."
        )
    return str(max(found, key=lambda image: str(image.attrs.get("Created", ""))).id)


def _given(client: _Client, setting: str) -> str:
    try:
        return str(client.images.get(setting).id)
    except ImageNotFound:
        pass
    try:
        return str(client.images.pull(setting).id)
    except APIError as error:
        raise EngineUnavailable(
            f"The image {setting} (PRISM_SANDBOX_IMAGE) is not on this engine and cannot be "
            f"pulled: {error}"
        ) from error
