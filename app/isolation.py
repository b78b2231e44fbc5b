"""What `prism doctor` says about the sandbox: what is in force, how weak, and what it leaves open.

The backend without isolation is marked in every line it has.
"""

from app.checks import Check
from app.services import Backend, open_backend
from app.settings import Settings, SettingsError
from sandbox.attacks.base import ATTACK_LIMITS, AttackResult, Group
from sandbox.attacks.run import run_attacks
from sandbox.attacks.source import PLAN
from sandbox.base import Capabilities
from sandbox.docker import DockerSandbox
from sandbox.engine.facts import warnings

KERNEL: tuple[Group, ...] = ("kernel",)
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
    return (
        Check("base images", ", ".join(there), notes=missing),
        await _system_calls(backend),
    )


async def _system_calls(backend: DockerSandbox) -> Check:
    """Try the risky ones in a container of the base image."""
    name = "system calls"
    if (await backend.facts()).has_own_kernel:
        return Check(name, "answered by gVisor's kernel, not by this machine's")
    results = await run_attacks(backend, await backend.bare(PLAN), groups=KERNEL)
    open_ = [each for each in results if each.verdict == "not held"]
    if open_:
        found = "; ".join(f"{each.title} ({each.observed})" for each in open_)
        return Check(name, "", f"The engine lets repository code use {found}. Use another engine.")
    return Check(name, f"{len(results)} of {len(results)} risky kinds refused")


async def try_attacks(settings: Settings) -> tuple[AttackResult, ...]:
    """Try every attack of the table on the sandbox in force; takes about a minute.

    Raises SettingsError for the backend without isolation: there it would be this machine that
    is attacked.
    """
    if settings.sandbox != "docker":
        raise SettingsError("Attacks are tried on containers only: unset PRISM_SANDBOX first.")
    backend = open_backend(settings, ATTACK_LIMITS)
    try:
        return await run_attacks(backend)
    finally:
        await backend.close()
