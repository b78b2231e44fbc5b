"""Find the base image environments are built on: one per language, or the operator's own."""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from sandbox.base import Language
from sandbox.engine.client import APIError, ImageNotFound
from sandbox.errors import EngineUnavailable

RECIPE = Path(__file__).parents[2] / "deploy" / "sandbox"

# Which recipe has a language's tools. The base has Python, Node.js and no compiler.
_NAMES: dict[Language, str] = {
    "go": "go",
    "rust": "rust",
    "java": "java",
    "ruby": "ruby",
    "php": "php",
}


class _Images(Protocol):
    def get(self, name: str) -> Any: ...
    def pull(self, repository: str) -> Any: ...
    def list(self, *, filters: dict[str, list[str]]) -> Iterable[Any]: ...


class _Client(Protocol):
    @property
    def images(self) -> _Images: ...


def image_name(language: Language) -> str:
    """The recipe for a language: what stands behind `prism-` in the image's name."""
    return _NAMES.get(language, "base")


def recipe_hash(name: str = "base") -> str:
    """The tag of the image `deploy/sandbox/build.sh NAME` makes; "" outside a checkout."""
    parts = [RECIPE / "bootstrap.sh", RECIPE / "install.sh", *_packages("base")]
    if name != "base":
        parts += _packages(name)
    if not all(part.is_file() for part in parts):
        return ""
    return sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:16]


def parse_images(text: str) -> dict[str, str]:
    """The setting PRISM_SANDBOX_IMAGES, e.g. `go=ref,rust=ref`, as {recipe name: reference}.

    `base` is the image for Python, Node.js and everything else. Raises ValueError naming the
    part that cannot be read.
    """
    known = {"base", *_NAMES.values()}
    images: dict[str, str] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, reference = (word.strip() for word in part.partition("="))
        if name not in known or not reference:
            names = ", ".join(sorted(known))
            raise ValueError(f"{part!r} is not NAME=IMAGE with one of the names {names}.")
        images[name] = reference
    return images


def base_image(
    client: _Client,
    setting: str = "",
    language: Language = "unknown",
    images: Mapping[str, str] | None = None,
) -> str:
    """The id of the image to build environments of `language` on.

    `images` (PRISM_SANDBOX_IMAGES) names one per recipe, `setting` (PRISM_SANDBOX_IMAGE) one for
    all that are not named there; a reference the engine lacks is pulled. Without either: the
    image of this checkout's recipe, else the newest of that name. Raises EngineUnavailable with
    what to do.
    """
    name = image_name(language)
    named = (images or {}).get(name, "")
    if named or setting:
        return _given(client, named or setting, f"PRISM_SANDBOX_IMAGE{'S' if named else ''}")
    recipe = recipe_hash(name)
    # By name in a checkout: what is built from the base image inherits its labels.
    wanted = {"reference": [f"prism-{name}:{recipe or '*'}"]}
    found = list(client.images.list(filters=wanted))
    if not found:
        raise EngineUnavailable(_missing(name))
    return str(max(found, key=lambda image: str(image.attrs.get("Created", ""))).id)


def _missing(name: str) -> str:
    if name == "base":
        return (
            "The sandbox's base image is missing: run deploy/setup/engine.sh, or set "
            "PRISM_SANDBOX_IMAGE to an image with bash, git and the languages you need."
        )
    return (
        f"The sandbox's image for {name} is missing: run deploy/sandbox/build.sh {name} (about "
        f"a minute), or name an image of your own by PRISM_SANDBOX_IMAGES={name}=IMAGE."
    )


def _given(client: _Client, setting: str, variable: str) -> str:
    try:
        return str(client.images.get(setting).id)
    except ImageNotFound:
        pass
    try:
        return str(client.images.pull(setting).id)
    except APIError as error:
        raise EngineUnavailable(
            f"The image {setting} ({variable}) is not on this engine and cannot be pulled: {error}"
        ) from error


def _packages(name: str) -> list[Path]:
    """The data files of a recipe in the order of their names; the first must be there."""
    found = sorted((RECIPE / "packages").glob(f"{name}.*"))
    return found or [RECIPE / "packages" / f"{name}.txt"]
