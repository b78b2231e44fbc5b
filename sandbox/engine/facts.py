"""What the engine is and can do, asked once: its version, programs, limits and weak points."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.engine.client import APIError, NotFound
from sandbox.engine.containers import Host
from sandbox.engine.owner import OWNER, this_process
from sandbox.errors import EngineUnavailable

# With other drivers engines take a size without enforcing it.
_QUOTA_DRIVERS = frozenset({"overlay2", "btrfs", "zfs"})
_LEAST_ENGINE = (25,)
_LEAST_RUNC = (1, 1, 12)  # CVE-2024-21626: a way out by the working folder
_RUNC_FIXED: dict[tuple[int, ...], tuple[int, ...]] = {
    (1, 2): (1, 2, 8),
    (1, 3): (1, 3, 3),
}  # CVE-2025-31133 and its two relatives


@dataclass(frozen=True, slots=True)
class Facts:
    """The engine as it answered. `runtimes` maps the names it knows to the program of each."""

    version: str
    driver: str
    cgroup: str
    runc: str
    runtimes: dict[str, str] = field(default_factory=dict)
    default_runtime: str = "runc"
    options: tuple[str, ...] = ()  # of security: seccomp, apparmor, userns, rootless, …
    host: Host = field(default_factory=Host)

    @property
    def runtime(self) -> str:
        """The runtime in force."""
        return self.host.runtime or self.default_runtime

    @property
    def has_own_kernel(self) -> bool:
        """Whether containers run on gVisor's kernel instead of this machine's."""
        return is_gvisor(self.runtimes.get(self.runtime) or self.runtime)

    def __str__(self) -> str:
        return f"Docker Engine {self.version} ({self.driver}, cgroup v{self.cgroup})"


def is_gvisor(program: str) -> bool:
    """Whether a runtime's program is gVisor's: a path, or the name of containerd's shim."""
    return re.search(r"(^|[/.])runsc($|[.\-])", program) is not None


def setup_runtime(runtimes: Mapping[str, str], runtime: str, default: str) -> str:
    """The runtime for set-ups: the one in force, unless it has a network stack of its own.

    gVisor and Kata have: no other container can offer a way out on their loopback interface.
    """
    program = runtimes.get(runtime or default) or runtime or default
    if is_gvisor(program) or "kata" in program:
        return "runc" if "runc" in runtimes else ""
    return runtime


def look(client: Any, runtime: str, instance: str, allow_ptrace: bool) -> Facts:
    """Ask the engine. Raises EngineUnavailable when it does not know `runtime`."""
    info = client.info()
    runtimes = {
        name: str(entry.get("path") or entry.get("runtimeType") or name)
        for name, entry in (info.get("Runtimes") or {}).items()
    }
    if runtime and runtime not in runtimes:
        raise EngineUnavailable(
            f"The container engine has no runtime {runtime!r} (PRISM_SANDBOX_RUNTIME); it has "
            f"{', '.join(sorted(runtimes)) or 'none'}. Register it with the engine, or unset it."
        )
    default = str(info.get("DefaultRuntime") or "runc")
    driver = str(info.get("Driver", "?"))
    cgroup = str(info.get("CgroupVersion", "1"))
    return Facts(
        version=str(info.get("ServerVersion", "?")),
        driver=driver,
        cgroup=cgroup,
        runc=_runc_version(client.version()),
        runtimes=runtimes,
        default_runtime=default,
        options=tuple(_option(text) for text in info.get("SecurityOptions") or ()),
        host=Host(
            private_cgroup=cgroup == "2",
            runtime=runtime,
            setup_runtime=setup_runtime(runtimes, runtime, default),
            storage_quota=driver in _QUOTA_DRIVERS and _takes_quota(client, instance),
            allow_ptrace=allow_ptrace,
            own_kernel=is_gvisor(runtimes.get(runtime or default) or runtime or default),
        ),
    )


def warnings(facts: Facts) -> tuple[str, ...]:
    """What is weaker than it could be, one sentence each, with what makes up for it."""
    found = []
    if "seccomp" not in facts.options:
        found.append(
            "The engine was built without seccomp: no system call is refused. Use another engine."
        )
    if _number(facts.version) < _LEAST_ENGINE:
        found.append(
            f"Engine {facts.version} is older than 25 and its own list of system calls is wide; "
            "Prism's list takes its place in every container it starts."
        )
    runc = _number(facts.runc)
    if runc and not _is_distribution_build(facts.runc) and runc < _needed_runc(runc):
        found.append(
            f"runc {facts.runc} has known ways out of a container: use "
            f"{'.'.join(map(str, _needed_runc(runc)))} or later."
        )
    elif runc and runc < _LEAST_RUNC:
        found.append(
            f"runc {facts.runc} is older than 1.1.12; it is a distribution's build, which may hold "
            "the fixes: keep the package up to date."
        )
    if not {"userns", "rootless"} & set(facts.options):
        found.append(
            "Root inside a container is root's user id outside. An engine with userns-remap, "
            "rootless, or on a machine of its own keeps them apart."
        )
    return tuple(found)


def _takes_quota(client: Any, instance: str) -> bool:
    """Whether a container with a size is accepted; it is created and never started."""
    images = client.api.images(quiet=True)
    if not images:
        return False
    labels = {"prism.instance": instance, OWNER: this_process()}
    try:
        made = client.containers.create(
            images[0],
            ["true"],
            network_mode="none",
            labels=labels,
            storage_opt={"size": "64M"},
        )
    except (APIError, NotFound):
        return False
    made.remove(force=True, v=True)
    return True


def _runc_version(version: dict[str, Any]) -> str:
    parts = {part.get("Name"): str(part.get("Version")) for part in version.get("Components") or ()}
    return parts.get("runc", "")


def _option(text: str) -> str:
    """`name=seccomp,profile=default` -> `seccomp`."""
    return text.removeprefix("name=").partition(",")[0]


def _number(version: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, match.group().split("."))) if match else ()


def _needed_runc(runc: tuple[int, ...]) -> tuple[int, ...]:
    return _RUNC_FIXED.get(runc[:2], _LEAST_RUNC)


def _is_distribution_build(version: str) -> bool:
    """Whether a packager built it, who carries fixes back: 1.1.5+ds1, 1.1.7-0ubuntu1."""
    return re.search(r"ds\d|ubuntu|deb|\.el\d|\.fc\d", version) is not None
