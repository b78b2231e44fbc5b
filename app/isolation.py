"""What `prism doctor` says about the sandbox: what is in force, how weak, and what it leaves open.

The backend without isolation is marked in every line it has.
"""

from app.checks import Check
from app.services import Backend, open_backend
from app.settings import Settings
from sandbox.base import Capabilities
from sandbox.docker import DockerSandbox
from sandbox.engine.facts import warnings

OPEN = "does not protect from "


async def examine_sandbox(settings: Settings) -> tuple[Check, ...]:
    """Engine, isolation, base images and refused system calls; starts one container.

    Raises SandboxError or SettingsError when there is no usable engine.
    """
    backend = open_backend(settings)
    try:
        found = await backend.check_engine()
        return (
            Check("container engine", found, notes=await _weak_points(backend)),
            await _sandbox(backend),
            *await _containers(backend),
        )
    finally:
        await backend.close()


async def _weak_points(backend: Backend) -> tuple[str, ...]:
    return warnings(await backend.facts()) if isinstance(backend, DockerSandbox) else ()


async def _sandbox(backend: Backend) -> Check:
    can = await backend.capabilities()
    where = "NOT ISOLATED: plain processes of this user"
    if isinstance(backend, DockerSandbox):
        facts = await backend.facts()
        others = ", ".join(sorted(facts.runtimes))
        where = f"docker, isolation: {can.isolation}, runtime {facts.runtime} (of {others})"
    return Check(
        "sandbox", f"{where}; {_limits(can)}", notes=tuple(OPEN + s for s in can.unprotected)
    )


def _limits(can: Capabilities) -> str:
    bounded = [
        name for name, is_so in (("memory", can.memory), ("processes", can.processes)) if is_so
    ]
    disk = {
        "engine": "disk by the engine's quota",
        "watched": "disk by looking once a second",
        "none": "disk not limited",
    }[can.disk]
    return f"limits: {', '.join([*bounded, disk])}; set-up network: {can.setup_network}"


async def _containers(backend: Backend) -> tuple[Check, ...]:
    """What only containers have."""
    if not isinstance(backend, DockerSandbox):
        return ()
    images = await backend.base_images()
    there = [name for name, problem in images.items() if not problem]
    missing = tuple(problem for problem in images.values() if problem)
    return (Check("base images", ", ".join(there), notes=missing),)
