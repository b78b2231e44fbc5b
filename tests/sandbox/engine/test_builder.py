"""The life of an environment on a real engine: tried, built, built upon, shared, refused."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.base import Command, Environment, EnvironmentPlan, Limits, Sandbox
from sandbox.docker import DockerSandbox
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


async def looked(sandbox: DockerSandbox, environment: Environment, line: str) -> str:
    """What a command prints in a fresh workspace."""
    async with sandbox.workspace(environment, "verify", "run-life") as workspace:
        ran = await workspace.exec(Command(line))
        assert ran.exit_code == 0, ran.output
        return ran.output.strip()


TOOL = "test -e ~/tool || head -c 8 /dev/urandom | base64 > ~/tool"  # installed once
BUILD = "mkdir -p out; cat src/*.txt > out/all; date > made"
PLAN = EnvironmentPlan("unknown", (TOOL, BUILD), "grep -q good src/a.txt", "exit_code", "t")
FILES = {
    "requirements.txt": "1\n",
    "src/a.txt": "bad secret-of-the-old-commit\n",
    "src/b.txt": "b\n",
    "old/gone.txt": "gone\n",
    "same.txt": "same\n",
    "becomes/folder.txt": "folder\n",
    "becomes-folder": "file\n",
}


async def test_a_commit_is_built_on_another(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """With the same inputs what was installed is kept; tree, base and tests are the commit's."""
    first = make_source(FILES)
    old = await sandbox.prepare(first, PLAN, "run-life")
    assert old.baseline is not None
    assert old.baseline.results == {"suite": "fail"}
    second = after(
        first,
        {
            "src/a.txt": "good\n",
            "old/gone.txt": None,
            "new/deep/file.txt": "new\n",
            "becomes/folder.txt": None,
            "becomes": "file now\n",
            "becomes-folder": None,
            "becomes-folder/file.txt": "folder now\n",
        },
    )
    new = await sandbox.prepare(second, PLAN, "run-life")
    assert not new.cached
    assert new.stable_passes == {"suite"}
    tool = await looked(sandbox, old, "cat ~/tool")
    tree = "find . -path ./.git -prune -o -type f -print | sort"
    look = f"cat ~/tool; {tree}; cat becomes src/* out/all; git status --porcelain --ignored"
    assert (await looked(sandbox, new, look)).split("\n") == [
        tool,
        "./becomes",
        "./becomes-folder/file.txt",
        "./made",
        "./new/deep/file.txt",
        "./out/all",
        "./requirements.txt",
        "./same.txt",
        "./src/a.txt",
        "./src/b.txt",
        "file now",
        "good",
        "b",
        "good",
        "b",
        "!! made",
        "!! out/",
    ]
    # What changed is newer than what was built; nothing of the other commit is left to read.
    await looked(sandbox, new, "test src/a.txt -nt same.txt && test out/all -nt same.txt")
    search = (
        "for g in .git /opt/prism/base.git; do git --git-dir=$g cat-file --batch-all-objects "
        "--batch 2>/dev/null; done | grep -ac secret-of || true; grep -rl secret-of /workspace* "
        "/opt/prism /tmp ~ 2>/dev/null || true"
    )
    assert await looked(sandbox, new, search) == "0"
    async with sandbox.workspace(new, "candidate", "run-life") as workspace:
        assert await workspace.diff() == ""
        await workspace.write("src/a.txt", "better\n")
        assert "+better" in await workspace.diff()

    third = after(second, {"requirements.txt": "2\n"})
    cold = await sandbox.prepare(third, PLAN, "run-life")
    assert await looked(sandbox, cold, "cat ~/tool") != tool


@pytest.mark.nightly
async def test_a_set_up_that_runs_only_once(
    sandbox: DockerSandbox, make_source: MakeSource
) -> None:
    """One that fails on what it left itself is done from scratch, from then on at once."""
    plan = EnvironmentPlan("unknown", ("mkdir ~/once",), "", "exit_code", "t")
    source, logs = make_source({"a.txt": "1\n"}), []
    for content in ("2\n", "3\n", "4\n"):
        environment = await sandbox.prepare(source, plan, "run-life")
        assert "File exists" not in environment.log
        (dependencies,) = [item for item in await sandbox.stored() if item.kind != "environment"]
        logs.append(dependencies.commit)
        assert logs[-1] == source.base_commit
        source = after(source, {"a.txt": content})
    assert len(set(logs)) == 3


@pytest.mark.nightly
async def test_a_working_suite_decides(sandbox: DockerSandbox, make_source: MakeSource) -> None:
    """When no test passes on top of another commit's set-up, the set-up starts from scratch."""
    stale = "test -e ~/built || cp a.txt ~/built"
    plan = EnvironmentPlan("unknown", (stale,), "cmp a.txt ~/built", "exit_code", "t")
    source = make_source({"a.txt": "1\n"})
    assert (await sandbox.prepare(source, plan, "run-life")).stable_passes
    next_one = after(source, {"a.txt": "2\n"})
    assert (await sandbox.prepare(next_one, plan, "run-life")).stable_passes


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
    source = make_source(FILES)
    other = DockerSandbox(instance=f"{INSTANCE}-{tmp_path.name}", data_dir=tmp_path / "data")
    plan = replace(PLAN, test="")
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
