"""What a container is started with: as little as repository code needs, whatever the plan."""

from typing import Any

import pytest

from sandbox.base import Limits
from sandbox.engine.containers import ROOT, Host, setup_args, workspace_args
from sandbox.engine.seccomp import profile

LIMITS = Limits(memory_mb=1000, cpus=0.5, pids=50, tmp_mb=10, file_mb=20, disk_mb=300)
LABELS = {"prism.run": "r"}
KINDS = (workspace_args, setup_args)
NEVER = {
    "privileged",
    "binds",
    "volumes",
    "mounts",
    "devices",
    "device_requests",
    "environment",
    "ports",
    "pid_mode",
    "uts_mode",
    "userns_mode",
    "cgroup_parent",
    "sysctls",
    "restart_policy",
    "auto_remove",
    "group_add",
    "volumes_from",
    "links",
    "extra_hosts",
    "dns",
}


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("host", [Host(), Host(True, "runsc", "runc", True, True)])
def test_nothing_that_leads_out_is_given(make: Any, host: Host) -> None:
    """No host path, device, port, namespace or variable, on any engine and with any runtime."""
    args = make("image", LIMITS, LABELS, host)
    assert not NEVER & set(args)
    assert args["ipc_mode"] == "private"
    assert args["cap_drop"] == ["ALL"]
    assert args["security_opt"] == [
        "no-new-privileges:true",
        f"seccomp={profile(host.allow_ptrace)}",
    ]


def test_a_workspace_has_no_network_and_no_capability() -> None:
    """And another user than the commands in it, so that they cannot end it."""
    args = workspace_args("image", LIMITS, LABELS, Host())
    assert args["network_mode"] == "none"
    assert "cap_add" not in args
    assert args["user"] == "10002:10002"


def test_a_setup_has_what_apt_and_dpkg_need() -> None:
    """Five capabilities and root; no tmpfs, because installers leave things in /tmp."""
    args = setup_args("image", LIMITS, LABELS, Host())
    assert args["cap_add"] == ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
    assert args["user"] == ROOT
    assert "tmpfs" not in args


@pytest.mark.parametrize(
    ("make", "memory", "nano_cpus", "pids", "disk"),
    [
        (workspace_args, "1000m", 500_000_000, 50, "300M"),
        (setup_args, "3072m", 2_000_000_000, 100, "600M"),
    ],
)
def test_limits_are_handed_to_the_engine(
    make: Any, memory: str, nano_cpus: int, pids: int, disk: str
) -> None:
    """Each limit under the engine's name for it; memory without swap beside it."""
    args = make("image", LIMITS, LABELS, Host(storage_quota=True))
    assert (args["mem_limit"], args["memswap_limit"]) == (memory, memory)
    assert (args["nano_cpus"], args["pids_limit"]) == (nano_cpus, pids)
    assert args["storage_opt"] == {"size": disk}
    ulimits = {limit["Name"]: limit["Hard"] for limit in args["ulimits"]}
    assert ulimits == {"nofile": 4096, "core": 0, "fsize": 20 * 1024 * 1024}
    assert args["log_config"]["Type"] == "none"


@pytest.mark.parametrize("make", KINDS)
def test_what_the_engine_lacks_is_not_asked_for(make: Any) -> None:
    """An engine without quota, second runtime or cgroup namespaces would refuse the container."""
    assert not {"storage_opt", "runtime", "cgroupns"} & set(make("image", LIMITS, LABELS, Host()))
    assert make("image", LIMITS, LABELS, Host(private_cgroup=True))["cgroupns"] == "private"


def test_a_setup_has_a_runtime_of_its_own() -> None:
    """Its way out joins the container's network, which gVisor keeps to itself."""
    host = Host(runtime="runsc", setup_runtime="runc")
    assert workspace_args("image", LIMITS, LABELS, host)["runtime"] == "runsc"
    assert setup_args("image", LIMITS, LABELS, host)["runtime"] == "runc"


def test_gvisors_own_threads_are_counted_in() -> None:
    """The engine counts what gVisor itself starts for each process: less would end it."""
    few = workspace_args("image", LIMITS, LABELS, Host(runtime="runsc", own_kernel=True))
    assert few["pids_limit"] == 1024
    many = workspace_args("image", Limits(pids=1000), LABELS, Host(own_kernel=True))
    assert many["pids_limit"] == 4000
