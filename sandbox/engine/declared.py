"""A base image that a repository asks for: what of the engine it may have.

An image on the engine may belong to another repository, and whoever names an image chooses which
registry the engine talks to and what fills its disk. So a repository gets images of well-known
public registries, by digest only, or what the operator has named.
"""

import re
from collections.abc import Collection
from typing import Any

from sandbox.engine.client import APIError, ImageNotFound
from sandbox.errors import NotAllowed, SetupFailed

REGISTRIES = ("docker.io", "ghcr.io", "mcr.microsoft.com", "public.ecr.aws", "quay.io")
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}\Z")


def declared_image(client: Any, reference: str) -> str:
    """The id of an image that may be had; pulled when the engine lacks it.

    Raises SetupFailed when it cannot be: the engine is there, so waiting would not help.
    """
    try:
        try:
            return str(client.images.get(reference).id)
        except ImageNotFound:
            return str(client.images.pull(reference).id)
    except APIError as error:
        why = f"The image {reference}, which the repository asks for, cannot be pulled: {error}"
        raise SetupFailed(f"docker pull {reference}", 1, why) from error


def require_allowed(reference: str, admitted: Collection[str]) -> None:
    """Raises NotAllowed unless it is public and pinned, or one that the operator named."""
    name = _DIGEST.sub("", reference)
    if reference in admitted or (name != reference and registry_of(name) in REGISTRIES):
        return
    raise NotAllowed(
        f"The repository asks for the image {reference}. It may have one of "
        f"{', '.join(REGISTRIES)} by digest (name@sha256:…), or one that the operator names in "
        "PRISM_SANDBOX_IMAGES."
    )


def registry_of(name: str) -> str:
    """The registry a reference leads to: the first part when it looks like a host."""
    first, slash, _ = name.partition("/")
    is_host = bool(slash) and (re.search(r"[.:A-Z]", first) is not None or first == "localhost")
    return first if is_host else "docker.io"
