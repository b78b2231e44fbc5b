"""What is read from engines: runtimes, weak points, and whether sizes are enforced."""

from dataclasses import replace

import pytest

from sandbox.docker import DockerSandbox, EngineOptions, unprotected
from sandbox.engine.client import Engine
from sandbox.engine.containers import Host
from sandbox.engine.facts import Facts, is_gvisor, look, setup_runtime, warnings
from sandbox.errors import EngineUnavailable

GOOD = Facts("27.3.1", "overlay2", "2", "1.2.8", options=("seccomp", "userns"))


def about(facts: Facts) -> str:
    """All warnings as one text."""
    return "\n".join(warnings(facts))


def test_a_good_engine_has_no_warning() -> None:
    """New, with seccomp, with root mapped away, with a mended runc."""
    assert about(GOOD) == ""


@pytest.mark.parametrize("version", ["20.10.24+dfsg1", "23.0.6", "24.0.9"])
def test_an_old_engine_is_made_up_for(version: str) -> None:
    """Its own list of system calls is wide; ours takes its place."""
    assert f"Engine {version} is older than 25" in about(replace(GOOD, version=version))


@pytest.mark.parametrize(
    ("runc", "said"),
    [
        ("1.1.11", "use 1.1.12 or later"),
        ("1.0.0-rc93", "use 1.1.12 or later"),
        ("1.2.7", "use 1.2.8 or later"),
        ("1.3.0", "use 1.3.3 or later"),
        ("1.1.5+ds1", "keep the package up to date"),
        ("1.1.7-0ubuntu1~22.04.1", "keep the package up to date"),
    ],
)
def test_a_runc_with_a_way_out_is_named(runc: str, said: str) -> None:
    """With the version that mends it; a distribution's build may hold the fix already."""
    assert said in about(replace(GOOD, runc=runc))


@pytest.mark.parametrize("runc", ["1.1.12", "1.2.8", "1.3.3", "1.4.0", ""])
def test_a_mended_or_unknown_runc_is_not(runc: str) -> None:
    """No false alarm; engines that do not say which runc they use are not accused."""
    assert "runc" not in about(replace(GOOD, runc=runc))


def test_an_engine_without_seccomp_or_mapping_is_named() -> None:
    """Both weaken every container."""
    said = about(replace(GOOD, options=("apparmor",)))
    assert "without seccomp" in said
    assert "userns-remap" in said
    assert "userns-remap" not in about(replace(GOOD, options=("seccomp", "rootless")))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("/usr/bin/runsc", True),
        ("runsc", True),
        ("runsc-kvm", True),
        ("io.containerd.runsc.v1", True),
        ("runc", False),
        ("/opt/runscript/run", False),
        ("io.containerd.runc.v2", False),
        ("", False),
    ],
)
def test_gvisor_is_known_by_its_program(program: str, expected: bool) -> None:
    """Whatever name the operator gave the runtime."""
    assert is_gvisor(program) is expected


def test_isolation_follows_the_program_not_the_name() -> None:
    """A runtime called runsc that starts runc is no kernel of its own."""
    runtimes = {"runsc": "/usr/bin/runc", "strong": "/usr/bin/runsc", "runc": "runc"}
    facts = replace(GOOD, runtimes=runtimes)
    assert replace(facts, host=Host(runtime="strong")).has_own_kernel
    assert not replace(facts, host=Host(runtime="runsc")).has_own_kernel
    assert not facts.has_own_kernel
    assert replace(facts, default_runtime="strong").has_own_kernel


@pytest.mark.parametrize(
    ("runtime", "default", "expected"),
    [
        ("", "runc", ""),
        ("crun", "runc", "crun"),
        ("strong", "runc", "runc"),
        ("kata", "runc", "runc"),
        ("", "strong", "runc"),
    ],
)
def test_a_setup_never_runs_where_it_has_no_way_out(
    runtime: str, default: str, expected: str
) -> None:
    """Runtimes with a network stack of their own are for workspaces, which have no network."""
    programs = {"runc": "runc", "crun": "crun", "strong": "/usr/bin/runsc", "kata": "kata-runtime"}
    assert setup_runtime(programs, runtime, default) == expected


def test_what_is_not_protected_from_depends_on_what_is_there() -> None:
    """A shared kernel, an unbounded burst on the disk and debuggers are each said only if so."""
    own = replace(
        GOOD,
        runtimes={"runsc": "runsc"},
        host=Host(runtime="runsc", setup_runtime="runsc", storage_quota=True),
    )
    shared = replace(GOOD, host=Host(allow_ptrace=True))
    texts = {
        name: "\n".join(unprotected(facts, True))
        for name, facts in {"own": own, "s": shared}.items()
    }
    for part in ("which containers share", "once a second", "debuggers"):
        assert part in texts["s"]
        assert part not in texts["own"]


@pytest.mark.engine
async def test_an_unknown_runtime_is_refused_by_name() -> None:
    """With the names the engine does know, before anything is started."""
    sandbox = DockerSandbox(
        instance="prism-tests", options=EngineOptions(runtime="no-such-runtime")
    )
    with pytest.raises(EngineUnavailable, match=r"'no-such-runtime' .*PRISM_SANDBOX_RUNTIME.*runc"):
        await sandbox.check_engine()
    await sandbox.close()


@pytest.mark.engine
async def test_this_engine_is_read(docker: DockerSandbox) -> None:
    """A quota is believed only when a container with a size can be made; nothing is left of it."""
    engine = Engine()
    try:
        facts = await engine.call(lambda c: look(c, "", "prism-tests-quota", False))
        left = await engine.call(
            lambda c: c.api.containers(
                all=True, filters={"label": "prism.instance=prism-tests-quota"}
            )
        )
    finally:
        await engine.close()
    assert facts.runtimes[facts.default_runtime]
    assert facts.version[0].isdigit()
    assert left == []
    capabilities = await docker.capabilities()
    assert (capabilities.disk == "engine") is facts.host.storage_quota
    assert capabilities.isolation == docker.isolation
    assert capabilities.unprotected
