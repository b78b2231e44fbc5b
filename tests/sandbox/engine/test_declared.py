"""Which images a repository may ask for."""

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.docker import DockerSandbox, EngineOptions
from sandbox.engine.declared import registry_of, require_allowed
from sandbox.errors import NotAllowed, SetupFailed

DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    "reference",
    [
        "python:3.12",  # a tag moves
        "prism-env:0123",  # another repository's environment
        "sha256:" + "0" * 64,  # an id on this engine
        "0" * 12,
        f"127.0.0.1:5000/python{DIGEST}",  # the engine would talk to whatever is there
        f"localhost/python{DIGEST}",
        f"registry.internal/python{DIGEST}",
        f"docker.io.example.org/python{DIGEST}",
        f"python{DIGEST}0",
        f"python{DIGEST}\n",
        f"python{DIGEST.upper()}",
        "",
    ],
)
def test_other_images_are_refused(reference: str) -> None:
    """Whoever wrote the file, and however it is spelled."""
    with pytest.raises(NotAllowed, match="PRISM_SANDBOX_IMAGES"):
        require_allowed(reference, {"named:1"})


@pytest.mark.parametrize("reference", ["named:1", f"python{DIGEST}", f"ghcr.io/a/b:1{DIGEST}"])
def test_named_ones_and_pinned_public_ones_are_not(reference: str) -> None:
    """What the operator wrote down, and what cannot change under its name."""
    require_allowed(reference, {"named:1"})


@pytest.mark.parametrize(
    ("name", "registry"),
    [
        ("python", "docker.io"),
        ("library/python", "docker.io"),
        ("ghcr.io/owner/image", "ghcr.io"),
        ("host:5000/image", "host:5000"),
        ("localhost/image", "localhost"),
        ("Host/image", "Host"),
    ],
)
def test_the_registry_is_read_as_the_engine_reads_it(name: str, registry: str) -> None:
    """The first part is a host when it has a dot, a colon or a capital letter, or is localhost."""
    assert registry_of(name) == registry


@pytest.mark.engine
async def test_an_image_the_operator_names_is_had(docker: DockerSandbox, prepared) -> None:
    """Also one with a tag, or by its id."""
    image = prepared.reference
    sandbox = DockerSandbox(instance="prism-tests", options=EngineOptions(images={"go": image}))
    plan = EnvironmentPlan("python", (), "", "exit_code", "t", image=image)
    assert await sandbox._base_image(plan) == image
    with pytest.raises(NotAllowed):
        await docker._base_image(plan)
    await sandbox.close()


@pytest.mark.engine
@pytest.mark.parametrize("image", ["127.0.0.1:9/none:1", "127.0.0.1:9/none:::1"])
async def test_an_image_that_cannot_be_had_ends_the_set_up(image: str, shop) -> None:
    """An engine that is there and cannot pull it would not by waiting: the set-up failed."""
    sandbox = DockerSandbox(instance="prism-tests", options=EngineOptions(images={"go": image}))
    plan = EnvironmentPlan("python", (), "", "exit_code", "t", image=image)
    with pytest.raises(SetupFailed) as caught:
        await sandbox.prepare(shop, plan, "run-image")
    assert caught.value.line == f"docker pull {image}"
    assert "which the repository asks for, cannot be pulled" in caught.value.log
    await sandbox.close()
