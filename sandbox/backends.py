"""Choose a sandbox by name."""

import os
from collections.abc import Mapping
from pathlib import Path

from sandbox.base import Limits
from sandbox.docker import DockerSandbox, EngineOptions
from sandbox.process import ProcessSandbox


def open_sandbox(
    kind: str,
    *,
    data_dir: Path,
    options: EngineOptions | None = None,
    limits: Limits | None = None,
    instance: str = "prism",
    allow_process: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> DockerSandbox | ProcessSandbox:
    """The backend `kind` names; nothing is contacted yet (`check_engine` does that).

    `allow_process` is the caller's statement that only trusted code and a scripted model are
    involved; without it "process" raises NotAllowed. `environ` is where the settings of set-ups
    and of package managers are looked up. Await `close()` at the end.
    """
    if kind == "process":
        return ProcessSandbox(
            data_dir=data_dir, allow=allow_process, limits=limits, environ=environ
        )
    if kind == "docker":
        return DockerSandbox(
            options=options,
            limits=limits,
            instance=instance,
            data_dir=data_dir,
            environ=environ,
        )
    raise ValueError(f"The sandbox must be docker or process, not {kind!r}.")
