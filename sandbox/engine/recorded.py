"""Write and read an environment's record inside its image, by containers that never start."""

import io
import secrets
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sandbox.engine.client import NotFound
from sandbox.engine.owner import IN_USE, OWNER, this_process
from sandbox.engine.runner import PRIVATE

_RECORD = "record.json"


def write_record(
    client: Any, image: str, data: bytes, labels: Mapping[str, str], commit: Mapping[str, Any]
) -> str:
    """Commit an image with the record added; returns its id. `commit` are further arguments.

    The engine writes as root and follows links; only root can have made any in that folder.
    """
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        member = tarfile.TarInfo(_RECORD)
        member.size, member.mode = len(data), 0o644
        tar.addfile(member, io.BytesIO(data))
    with _unstarted(client, image, labels) as container:
        client.api.put_archive(container, PRIVATE, file.getvalue())
        return str(client.api.commit(container, **commit)["Id"])


def read_record(client: Any, image: str, labels: Mapping[str, str]) -> bytes:
    """The record of an image; b"" when it is no plain file. Raises NotFound without one."""
    with _unstarted(client, image, labels) as container:
        chunks, _ = client.api.get_archive(container, f"{PRIVATE}/{_RECORD}")
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
            member = tar.next()
            file = tar.extractfile(member) if member is not None and member.isreg() else None
            return file.read() if file else b""


@contextmanager
def _unstarted(client: Any, image: str, labels: Mapping[str, str]) -> Iterator[str]:
    name = f"prism-{secrets.token_hex(8)}"
    IN_USE.add(name)
    try:
        client.api.create_container(
            image,
            ["true"],
            name=name,
            labels={**labels, OWNER: this_process()},
            host_config=client.api.create_host_config(network_mode="none"),
        )
        yield name
    finally:
        try:
            client.api.remove_container(name, force=True, v=True)
        except NotFound:
            pass
        finally:
            IN_USE.discard(name)
