"""The life of an environment on a real engine: tried, built, built upon, shared, refused."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.base import Command, Environment, EnvironmentPlan, Limits, Sandbox
from sandbox.docker import DockerSandbox
from sandbox.engine.store import remove_image
from sandbox.errors import SetupFailed
from sandbox.process import ProcessSandbox
from tests.sandbox.conftest import GIT, INSTANCE, GitSource, MakeSource

pytestmark = pytest.mark.engine


async def look_around(sandbox: Sandbox, source) -> None:
    """Try what a set-up line may do, and what it may not."""
    plan = EnvironmentPlan("python", (), "", "exit_code", "t", directory="src")
    async with sandbox.setup_shell(source, plan, "run-shell") as shell:
        where = await shell.exec(Command("basename $PWD; ls; id -u; command -v pip"))
        assert where.ok
        folder, content, user, pip = where.output.split()
        assert (folder, content) == ("src", "shop")
        assert pip.endswith("/venv/bin/pip")
        if sandbox.isolation == "container":
            assert user == "10001"
            assert (await shell.exec(Command("pip install -q iniconfig"))).exit_code == 0
            assert (await shell.exec(Command("python -c 'import iniconfig'"))).ok
            refused = await shell.exec(
                Command("pip install -q --retries 0 -i https://not.example/ x")
            )
            assert "refused: not.example" in refused.output
        assert (await shell.exec(Command("echo no; exit 7"))).exit_code == 7
        assert (await shell.exec(Command("sleep 60", timeout_s=0.5))).timed_out


async def test_commands_may_be_tried(docker: DockerSandbox, shop) -> None:
    """A set-up shell is a place like the one set-up lines run in, which outlives failures."""
    await look_around(docker, shop)


@pytest.mark.nightly
async def test_commands_may_be_tried_unisolated(shop, tmp_path: Path) -> None:
    """The backend without isolation offers the same."""
    await look_around(ProcessSandbox(data_dir=tmp_path, allow=True), shop)
    assert not list((tmp_path / "process" / "workspaces").iterdir())


def after(source: GitSource, files: Mapping[str, str | None]) -> GitSource:
    """The repository after one more commit that writes files, or removes them (None)."""
    for name, content in files.items():
        path = source.directory / name
        if content is None:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    for arguments in (["add", "-A", "-f"], ["commit", "-q", "-m", "next"]):
        subprocess.run([*GIT, *arguments], cwd=source.directory, check=True)
    tip = subprocess.run([*GIT, "rev-parse", "HEAD"], cwd=source.directory, stdout=-1, check=True)
    return replace(source, base_commit=tip.stdout.decode().strip())


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[DockerSandbox]:
    """A sandbox whose environments are gone after the test."""
    own = DockerSandbox(instance=f"{INSTANCE}-{tmp_path.name}", data_dir=tmp_path / "data")
    yield own
    for repository in {item.repository for item in await own.stored()}:
        await own.remove_environments(repository)
    await own.close()


INSTALL = "npm ci --no-audit --no-fund --ignore-scripts"
PLAN = EnvironmentPlan("node", (INSTALL,), "grep -q good src/a.txt", "exit_code", "t")
FILES = {
    "package.json": '{"name": "shop", "version": "1.0.0"}',
    "package-lock.json": '{"name": "shop", "lockfileVersion": 3, "packages": {"": {}}}',
    "src/a.txt": "bad secret-of-the-old-commit\n",
    "src/b.txt": "b\n",
    "old/gone.txt": "gone\n",
    "same.txt": "same\n",
    "becomes.md/folder.txt": "folder\n",
    "becomes-folder.md": "file\n",
}
NEXT = {
    "src/a.txt": "good\n",
    "old/gone.txt": None,
    "new/deep/file.txt": "new\n",
    "becomes.md/folder.txt": None,
    "becomes.md": "file now\n",
    "becomes-folder.md": None,
    "becomes-folder.md/file.txt": "folder now\n",
}
TREE = "find . -path ./.git -prune -o -type f -print | sort; cat becomes.md src/*"
TREE_NOW = [
    *("./becomes-folder.md/file.txt", "./becomes.md", "./new/deep/file.txt"),
    *("./package-lock.json", "./package.json", "./same.txt", "./src/a.txt", "./src/b.txt"),
    *("file now", "good", "b"),
]
OLD_SECRET = (
    "for g in .git /opt/prism/base.git; do git --git-dir=$g cat-file --batch-all-objects "
    "--batch 2>/dev/null; done | grep -ac secret-of || true; grep -rl secret-of /workspace* "
    "/opt/prism /tmp ~ 2>/dev/null || true"
)


async def test_a_commit_is_built_on_another(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """With the same inputs what was installed is kept; tree, base and tests are the commit's."""
    first = make_source(FILES)
    old = await sandbox.prepare(first, PLAN, "run-life")
    assert old.baseline is not None
    assert (old.baseline.results, old.built_on) == ({"suite": "fail"}, "")
    new = await sandbox.prepare(after(first, NEXT), PLAN, "run-life")
    assert (new.cached, new.built_on) == (False, first.base_commit)
    assert new.stable_passes == {"suite"}
    stored = {item.image: item for item in await sandbox.stored()}
    assert stored[new.reference].built_on == first.base_commit
    assert len(stored[new.reference].layers.keys() & stored[old.reference].layers.keys()) == 1
    async with sandbox.workspace(new, "candidate", "run-life") as workspace:

        async def shown(line: str) -> list[str]:
            ran = await workspace.exec(Command(line))
            assert ran.ok, ran.output
            return ran.output.split("\n")[:-1]

        assert await shown(TREE) == TREE_NOW
        assert await shown("git status --porcelain; test src/a.txt -nt same.txt") == []
        assert await shown(OLD_SECRET) == ["0"]  # nothing of the other commit is left to read
        assert await workspace.diff() == ""
        await workspace.write("src/a.txt", "better\n")
        assert "+better" in await workspace.diff()


@pytest.mark.nightly
async def test_a_commit_plants_nothing_for_another(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """A script that no line names may do what it likes to its own environment alone."""
    script = "touch ~/planted\n"
    source = make_source({"package.json": '{"scripts": {"s": "sh s.sh"}}', "s.sh": script})
    plan = EnvironmentPlan("node", ("npm run s",), "test ! -e ~/planted", "exit_code", "t")
    planted = await sandbox.prepare(source, plan, "run-life")
    assert planted.stable_passes == set()
    clean = await sandbox.prepare(after(source, {"s.sh": "true\n"}), plan, "run-life")
    assert clean.stable_passes == {"suite"}
    assert clean.built_on == ""


async def forget(sandbox: DockerSandbox, environment: Environment) -> None:
    """Remove what lies above the installation, as pruning may."""
    await sandbox._engine.call(lambda c: remove_image(c, environment.reference))


@pytest.mark.nightly
async def test_a_set_up_that_runs_only_once(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """One that fails on what it left itself is done from scratch, from then on at once."""
    plan = EnvironmentPlan("unknown", ("mkdir ~/once",), "", "exit_code", "t")
    source = make_source({"a.txt": "1\n"})
    for _ in range(3):
        environment = await sandbox.prepare(source, plan, "run-life")
        assert "File exists" not in environment.log
        assert environment.built_on == ""
        await forget(sandbox, environment)


@pytest.mark.nightly
async def test_a_working_suite_decides(sandbox: DockerSandbox, make_source: MakeSource) -> None:
    """When no test passes on top of an earlier set-up, the set-up starts from scratch."""
    lines = ("if test -e ~/once; then touch ~/twice; fi; touch ~/once",)
    plan = EnvironmentPlan("unknown", lines, "test ! -e ~/twice", "exit_code", "t")
    source = make_source({"a.txt": "1\n"})
    for _ in range(2):
        environment = await sandbox.prepare(source, plan, "run-life")
        assert environment.stable_passes
        await forget(sandbox, environment)


@pytest.mark.nightly
async def test_installations_keep_their_own(
    sandbox: DockerSandbox, make_source: MakeSource, tmp_path: Path
) -> None:
    """On one engine neither uses, lists nor removes what the other stored."""
    source = make_source({"a.txt": "1\n"})
    plan = EnvironmentPlan("unknown", (), "", "exit_code", "t")
    other = DockerSandbox(instance=f"{INSTANCE}-2-{tmp_path.name}", data_dir=tmp_path / "2")
    try:
        mine = await sandbox.prepare(source, plan, "run-life")
        theirs = await other.prepare(source, plan, "run-life")
        assert not theirs.cached
        listed = {item.image for item in await other.stored()}
        assert theirs.reference in listed
        assert mine.reference not in listed
    finally:
        assert await other.remove_environments(source.repository) == 1
        await other.close()
    assert mine.reference in {item.image for item in await sandbox.stored()}
    assert (await sandbox.prepare(source, plan, "run-life")).cached


async def test_a_failure_is_not_repeated(
    sandbox: DockerSandbox, make_source: MakeSource, tmp_path: Path
) -> None:
    """It is told again as it was, by any worker, until somebody asks for another attempt."""
    source = make_source({"a.txt": "1\n"})
    plan = EnvironmentPlan("unknown", ("date +%N; exit 9",), "", "exit_code", "t")
    other = DockerSandbox(instance=f"{INSTANCE}-{tmp_path.name}", data_dir=tmp_path / "data")
    told = []
    try:
        for worker in (sandbox, other, other):
            with pytest.raises(SetupFailed) as caught:
                await worker.prepare(source, plan, "run-life")
            told.append((caught.value.log, caught.value.exit_code, caught.value.line))
            if worker is other and len(told) == 2:
                assert await other.forget_failures(source.repository) == 1
    finally:
        await other.close()
    assert told[0] == told[1]
    assert told[0][1:] == (9, "date +%N; exit 9")
    assert told[1][0] != told[2][0]


async def test_workers_build_once(
    sandbox: DockerSandbox, make_source: MakeSource, tmp_path: Path
) -> None:
    """Two workers that need the same environment at the same time share one build."""
    source = make_source({"a.txt": "1\n"})
    other = DockerSandbox(instance=f"{INSTANCE}-{tmp_path.name}", data_dir=tmp_path / "data")
    plan = EnvironmentPlan("unknown", ("date > made",), "", "exit_code", "t")
    try:
        both = await asyncio.gather(
            sandbox.prepare(source, plan, "run-life"), other.prepare(source, plan, "run-life")
        )
    finally:
        await other.close()
    assert both[0].reference == both[1].reference
    assert sorted(environment.cached for environment in both) == [False, True]


async def test_a_set_up_that_fills_the_disk(make_source: MakeSource, tmp_path: Path) -> None:
    """It is ended, and the log says why."""
    own = DockerSandbox(
        instance=f"{INSTANCE}-disk", data_dir=tmp_path / "data", limits=Limits(disk_mb=40)
    )
    line = "head -c 150000000 /dev/zero > ~/full; sleep 120"
    plan = EnvironmentPlan("unknown", (line,), "", "exit_code", "t")
    try:
        with pytest.raises(SetupFailed) as caught:
            await own.prepare(make_source({"a.txt": "1\n"}), plan, "run-life")
    finally:
        await own.close()
    assert caught.value.line == line
    assert caught.value.log.endswith("ended: it wrote more to the disk than a set-up may\n")
