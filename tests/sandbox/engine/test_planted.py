"""Programs, hooks and settings of a repository run in its own name and never in the harness's."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.base import Command, EnvironmentPlan, Workspace
from sandbox.docker import DockerSandbox
from sandbox.engine.runner import ContainerRunner
from sandbox.engine.seccomp import profile
from sandbox.errors import SandboxError
from sandbox.runner import SYSTEM_PATH, Script
from tests.sandbox.conftest import INSTANCE, MakeSource
from tests.sandbox.engine.test_builder import after

pytestmark = pytest.mark.engine

# Every program of the system by its name, and what shells and git read at their start.
PLANT = r"""
my @folders = ("/opt/venv/bin", "/home/sandbox/.local/bin", "/home/sandbox/bin");
sub put {
    my ($path, $text) = @_;
    open F, ">", $path or die; print F $text; close F; chmod 0755, $path }
for my $folder (@folders) {
    system "/bin/mkdir", "-p", $folder;
    put "$folder/.planted", <<'X';
#!/bin/sh
echo "$0 $(/usr/bin/id -u)" >> /opt/venv/ran
for folder in /usr/local/bin /usr/bin /usr/sbin; do
  [ -x "$folder/${0##*/}" ] && exec "$folder/${0##*/}" "$@"
done
X
    for (glob "/usr/local/bin/* /usr/bin/* /usr/sbin/*") {
        s|.*/||; symlink ".planted", "$folder/$_" }
}
for my $log ("/opt/venv/ran", "/opt/venv/hooked") { open F, ">>", $log; close F; chmod 0666, $log }
put "/opt/venv/hook", 'echo "$UID ${BASH_EXECUTION_STRING%%$\'\n\'*}" >> /opt/venv/hooked' . "\n";
put "/home/sandbox/.bashrc", "echo \$UID bashrc >> /opt/venv/hooked\n";
put "/home/sandbox/.gitconfig",
    "[core]\n fsmonitor = /opt/venv/bin/git\n[diff]\n external = /opt/venv/bin/git\n";
"""
FILES = {"package.json": "{}", "f.txt": "one\n", "tools/plant.pl": PLANT}
LINE = "/usr/bin/perl tools/plant.pl"
PLAN = EnvironmentPlan(
    "node", (LINE,), "exit 0", "exit_code", "t",
    variables=(("BASH_ENV", "/opt/venv/hook"), ("GIT_EXEC_PATH", "/opt/venv/bin")),
)  # fmt: skip
BUSY = "while :; do :; done"
LOGS = 'printf "%s\\n" "$(</opt/venv/ran)" - "$(</opt/venv/hooked)"'


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[DockerSandbox]:
    """A sandbox whose environments are gone after the test."""
    own = DockerSandbox(instance=f"{INSTANCE}-{tmp_path.name}", data_dir=tmp_path / "data")
    yield own
    for repository in {item.repository for item in await own.stored()}:
        await own.remove_environments(repository)
    await own.close()


async def everything(workspace: Workspace) -> None:
    """All that the harness does in a workspace, its results included."""
    await workspace.write("f.txt", "two\n")
    await workspace.write("new.txt", "new\n")
    assert await workspace.read("f.txt") == "two\n"
    snapshot = await workspace.snapshot()
    patch = await workspace.diff()
    assert "+two" in patch
    assert (await workspace.exec(Command("exit 3"))).exit_code == 3
    assert (await workspace.exec(Command("exit 4", quick=True))).exit_code == 4
    assert (await workspace.exec(Command("false"))).exit_code == 1
    assert (await workspace.exec(Command(BUSY, timeout_s=0.5))).timed_out
    assert (await workspace.exec(Command(BUSY, timeout_s=0.5, quick=True))).timed_out
    await workspace.exec(Command("printf '\\xff\\n' > new.txt"))
    assert "new.txt" in await workspace.diff()
    await workspace.restore(snapshot)
    assert await workspace.diff() == patch
    assert (await workspace.test()).exit_code == 0
    async with workspace.fork(snapshot) as child:
        assert await child.diff() == patch
    assert (await workspace.apply("no patch")).exit_code != 0


OWN_LINES = {LINE, "exit 0", "exit 3", "exit 4", "false", BUSY, "printf '\\xff\\n' > new.txt", LOGS}


async def test_nothing_planted_runs_for_the_harness(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """As root or else: in a set-up, in one of the next commit, in copies for both roles."""
    source = make_source(FILES)
    first = await sandbox.prepare(source, PLAN, "r")
    second = await sandbox.prepare(after(source, {"f.txt": "next\n"}), PLAN, "r")
    for environment, role in ((first, "candidate"), (second, "verify")):
        async with sandbox.workspace(environment, role, "r") as workspace:
            await everything(workspace)
            logs = (await workspace.exec(Command(LOGS))).output
            ran, _, hooked = logs.partition("-\n")
            assert ran.strip() == ""
            begun = [row.partition(" ") for row in hooked.splitlines()]
            assert {(user, line) for user, _, line in begun} <= {("10001", x) for x in OWN_LINES}
            assert ("10001", " ", "exit 3") in begun
            assert ("10001", " ", LINE) not in begun  # nothing planted is there in the next set-up
            # They do run in the repository's own name, or this test would show nothing.
            assert (await workspace.exec(Command("git --version"))).ok
            assert "/opt/venv/bin/git 10001" in (await workspace.exec(Command(LOGS))).output


async def test_the_forwarder_is_the_operators(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """It has the list of system calls and runs of the base image, whatever the set-up is on."""
    plan = EnvironmentPlan("node", (), "", "exit_code", "t")
    source = make_source(FILES)
    built = await sandbox.prepare(source, plan, "r")
    base = (await sandbox.bare(plan)).reference
    assert built.reference != base
    builder, role = sandbox._builder, {"label": ["prism.role=egress", "prism.run=forwarder"]}
    async with builder._setup(source, plan, built.reference, "forwarder", renewing=True):
        found = await builder.engine.call(lambda c: c.containers.list(filters=role)[0].attrs)
    assert found["Image"] == base
    assert f"seccomp={profile()}" in found["HostConfig"]["SecurityOpt"]


async def test_programs_of_the_harness_are_roots(workspace: Workspace) -> None:
    """No folder or file on its PATH can be written by another user, links followed."""
    folders = SYSTEM_PATH.replace(":", " ")
    found = await workspace.exec(
        Command(f"find -L {folders} / /usr /usr/local /opt/prism -maxdepth 0 ! -user 0 -print; "
                f"find -L {folders} -maxdepth 1 -writable ! -type l -print; "
                f"for d in {folders}; do [ -w $d ] && echo $d; done; true")
    )  # fmt: skip
    assert (found.exit_code, found.output) == (0, "")


async def test_a_snapshot_is_the_commit_it_is_named_by(workspace: Workspace) -> None:
    """A name that leads elsewhere is refused by every use of it, and so is a moved base."""
    await workspace.write("f.txt", "one\n")
    first = await workspace.snapshot()
    await workspace.write("f.txt", "two\n")
    second = await workspace.snapshot()

    async def point(name: str, commit: str) -> None:
        line = f"git --git-dir=/opt/prism/snapshots/git update-ref refs/prism/{name} {commit}"
        moved = await workspace._runner.run(Script(line, actor="extract"))
        assert moved.exit_code == 0, moved.stderr

    await point(first, second)
    with pytest.raises(SandboxError, match="the snapshot was changed"):
        await workspace.restore(first)
    with pytest.raises(SandboxError, match="the snapshot was changed"):
        async with workspace.fork(first):
            pass
    await workspace.restore(second)
    await point("base", second)
    with pytest.raises(SandboxError, match="the recorded base was changed"):
        await workspace.diff()


async def test_scripts_of_the_harness_take_no_variables(workspace: Workspace) -> None:
    """Who asks for the wrong kind is told, before anything runs."""
    with pytest.raises(ValueError, match="takes no variables"):
        Script("true", env={"A": "1"})
    with pytest.raises(ValueError, match="as the sandbox user"):
        Script("true", actor="extract", project=True)
    runner = getattr(workspace._runner, "_runner", None)
    assert isinstance(runner, ContainerRunner)
    with pytest.raises(ValueError, match="as root"):
        await runner.as_root(replace(Script("true"), project=True))
