"""The image and the compose file: what goes in, and who gets what."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text().splitlines()


def test_every_package_is_copied_into_the_image() -> None:
    """Each by a line of its own, and none is kept out by .dockerignore."""
    packages = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    for package in packages:
        assert f"COPY {package} {package}" in DOCKERFILE
        assert f"!{package}" in ignored


def test_everything_that_is_copied_is_in_the_build_context() -> None:
    """The context is an allow list: what the Dockerfile names has to be on it."""
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    sources = [
        word for line in DOCKERFILE if line.startswith("COPY") for word in line.split()[1:-1]
    ]
    assert sources
    assert ignored[0] == "*"
    assert all(f"!{source}" in ignored for source in sources)
    assert all((ROOT / source).exists() for source in sources)


def test_the_image_does_not_run_as_root() -> None:
    """The last user is an ordinary one."""
    users = [line.split()[1] for line in DOCKERFILE if line.startswith("USER")]
    assert users[-1:] == ["prism"]


def test_dependencies_are_those_of_the_project() -> None:
    """The image installs what pyproject.toml says, extras as asked."""
    script = [sys.executable, str(ROOT / "deploy/requirements.py"), "postgres"]
    printed = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    extras = PROJECT["project"]["optional-dependencies"]["postgres"]
    assert printed.splitlines() == [*PROJECT["project"]["dependencies"], *extras]


def test_only_the_worker_reaches_the_container_engine() -> None:
    """The web process takes deliveries from the internet: no socket, no model key, no App key."""
    services = COMPOSE["services"]
    assert any("docker.sock" in volume for volume in services["worker"]["volumes"])
    assert not any("docker.sock" in volume for volume in services["web"]["volumes"])
    assert services["web"]["environment"]["ANTHROPIC_API_KEY"] == ""
    assert services["web"]["environment"]["PRIVATE_KEY"] == ""


def test_every_service_comes_back_and_keeps_its_data() -> None:
    """Restarted by the engine, on named volumes, Redis with its append-only file."""
    for service in COMPOSE["services"].values():
        assert service["restart"] == "unless-stopped"
        assert any(volume.split(":")[0] in COMPOSE["volumes"] for volume in service["volumes"])
    assert "--appendonly" in COMPOSE["services"]["redis"]["command"]


def test_set_ups_reach_the_worker_through_a_volume() -> None:
    """The worker's socket folder is the volume it names; the image lets its user write there."""
    worker = COMPOSE["services"]["worker"]
    folder, volume = (worker["environment"][f"PRISM_SOCKET_{name}"] for name in ("DIR", "VOLUME"))
    mounts = dict(entry.split(":")[:2] for entry in worker["volumes"])
    (name,) = [name for name, place in mounts.items() if place == folder]
    assert COMPOSE["volumes"][name]["name"] == volume
    assert any(f"{folder} && chown prism: {folder}" in line for line in DOCKERFILE)
