"""Tidy up what a command left on the engine."""

from contextlib import closing
from pathlib import Path

import docker

from app.services import instance_of
from app.settings import Settings


def remove_environments(data_dir: Path) -> None:
    """Remove the environment images made with this data folder."""
    label = f"prism.instance={instance_of(Settings(data_dir=data_dir))}"
    with closing(docker.from_env()) as client:
        for image in client.images.list(filters={"label": label}):
            client.images.remove(image.id, force=True)
