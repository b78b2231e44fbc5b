"""A real git repository as a Source, and one prepared environment for all container tests."""

import os
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox.base import Environment, EnvironmentPlan, Limits, Workspace
from sandbox.docker import DockerSandbox

GIT = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost")

SHOP = {
    "pyproject.toml": (
        "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'setuptools.build_meta'\n"
        "[project]\nname = 'shop'\nversion = '1.0'\n"
    ),
    "src/shop/__init__.py": "def total(prices):\n    return sum(prices)\n",
    "src/shop/windows.py": "LINES = 'a'\r\nMORE = 'b'\r\n",
    "tests/test_total.py": (
        "import shop\n\n"
        "def test_total():\n    assert shop.total([1, 2]) == 3\n\n"
        "class TestWords:\n    def test_join(self):\n"
        "        assert shop.total(['a', 'b']) == 'ab'\n"
    ),
    "data/logo.bin": bytes(range(256)),
    "tools/run.sh": "#!/bin/sh\necho run\n",
    "no-newline.txt": "no end",
    ".gitattributes": "* text=auto\n*.py filter=evil diff=evil\n",
    ".gitignore": "build/\n*.tmp\n",
}


@dataclass(frozen=True)
class GitSource:
    """Implements `sandbox.base.Source` by calling git on a repository of the test."""

    directory: Path
    repository: str
    base_commit: str

    def _git(self, *args: str) -> bytes:
        return subprocess.run([*GIT, *args], cwd=self.directory, check=True, stdout=-1).stdout

    async def files(self) -> tuple[str, ...]:
        return tuple(sorted(await self.blobs()))

    async def blobs(self) -> dict[str, str]:
        rows = self._git("ls-tree", "-r", "-z", self.base_commit).decode().split("\0")
        entries = (row.split("\t", 1) for row in rows if row.startswith("100"))
        return {path: meta.split()[2] for meta, path in entries}

    async def read(self, path: str) -> bytes | None:
        if path not in await self.files():
            return None
        return self._git("cat-file", "blob", f"{self.base_commit}:{path}")

    async def archive(self) -> AsyncIterator[bytes]:
        data = self._git("archive", "--format=tar", self.base_commit)
        for start in range(0, len(data), 65536):
            yield data[start : start + 65536]


MakeSource = Callable[[Mapping[str, str | bytes]], GitSource]


def make_repository(directory: Path, files: Mapping[str, str | bytes]) -> GitSource:
    """Commit `files` (bytes as they are; those under tools/ executable) and return the Source."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if name.startswith("tools/"):
            path.chmod(0o755)
    run = ["-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null"]
    subprocess.run(["git", "init", "-q", "-b", "main", "."], cwd=directory, check=True)
    (directory / ".git/info/attributes").write_text("* -text !filter !diff\n")
    subprocess.run([*GIT, *run, "add", "-A", "-f"], cwd=directory, check=True)
    subprocess.run([*GIT, "commit", "-q", "-m", "base"], cwd=directory, check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=directory, check=True, stdout=-1, text=True
    ).stdout.strip()
    return GitSource(directory, f"test/{directory.name}-{os.getpid()}", commit)


@pytest.fixture
def make_source(tmp_path: Path) -> MakeSource:
    """Make a repository of given files."""
    return lambda files: make_repository(tmp_path / "repository", files)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> GitSource:
    """A small Python project whose second test fails before any patch."""
    return make_repository(tmp_path_factory.mktemp("shop"), SHOP)


INSTANCE = f"prism-tests-{os.getpid()}"  # several runs of the tests may share an engine


@pytest.fixture(scope="session")
def shop_plan() -> EnvironmentPlan:
    """How the small project is set up: installed in place, tested by pytest."""
    return EnvironmentPlan(
        language="python",
        setup=("pip install -e . pytest", "mkdir -p build && echo made > build/left-over"),
        test="python -m pytest -q",
        runner="pytest",
        origin="test",
    )


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def docker(shop: GitSource) -> AsyncIterator[DockerSandbox]:
    """A sandbox on the engine of this machine, which must be there."""
    sandbox = DockerSandbox(instance=INSTANCE, limits=Limits(memory_mb=512, pids=128))
    await sandbox.remove_orphans()
    yield sandbox
    await sandbox.remove_orphans()
    await sandbox.remove_environments(shop.repository)
    await sandbox.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def prepared(
    docker: DockerSandbox, shop: GitSource, shop_plan: EnvironmentPlan
) -> Environment:
    """The small project's environment, built once."""
    return await docker.prepare(shop, shop_plan, "run-1")


@pytest.fixture
async def workspace(docker: DockerSandbox, prepared: Environment) -> AsyncIterator[Workspace]:
    """A fresh container of the small project."""
    async with docker.workspace(prepared, "candidate", "run-1") as fresh:
        yield fresh
