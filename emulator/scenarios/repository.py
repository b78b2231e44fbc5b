"""Make a git repository of a source distribution: one commit, the same id everywhere."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml

from emulator.scenarios.scenario import EnvironmentConfig, Scenario
from emulator.scenarios.sdist import unpack

CONFIG = ".github/prism.yml"
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Import"),
        ("EMAIL", "import@example.invalid"),
        ("DATE", "2026-01-01T00:00:00+00:00"),
    )
}
# Source distributions often leave out the file that keeps these out of a project's commits.
_IGNORED = "__pycache__/\n.pytest_cache/\n.hypothesis/\n"


def repository(scenario: Scenario, archive: Path, into: Path) -> Path:
    """Unpack the archive (see `sdist.fetch`) to `into` as a repository on branch `main`.

    Adds `.github/prism.yml` and, where there is none, a `.gitignore`. `into` must not exist.
    Returns `into`. The commit's id depends on the scenario and the archive alone.
    """
    into.mkdir(parents=True)
    unpack(archive, into)
    config = into / CONFIG
    config.parent.mkdir(exist_ok=True)
    config.write_text(config_text(scenario.environment), encoding="utf-8")
    if not (into / ".gitignore").exists():
        (into / ".gitignore").write_text(_IGNORED, encoding="utf-8")
    _git(into, "init", "--quiet", "--template=", "--initial-branch=main")
    # --force: an archive may hold files that its own .gitignore names
    _git(into, "add", "--all", "--force")
    message = f"Import {scenario.sdist.distribution} {scenario.sdist.version}"
    _git(into, "commit", "--quiet", "--message", message)
    return into


def config_text(environment: EnvironmentConfig) -> str:
    """The text of `.github/prism.yml`."""
    env = {"setup": list(environment.setup), "test": environment.test}
    return yaml.safe_dump({"env": env}, sort_keys=False, width=1000)


def base_files(scenario: Scenario, repository: Path) -> Mapping[str, str]:
    """The text at the base of every file that some candidate's patch modifies, by path."""
    paths = {
        line.removeprefix("--- a/")
        for candidate in scenario.candidates
        for line in candidate.patch.splitlines()
        if line.startswith("--- a/")
    }
    return {path: (repository / path).read_text(encoding="utf-8") for path in sorted(paths)}


def _git(where: Path, *arguments: str) -> None:
    """Run git without the machine's configuration, which could change what is committed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **_IDENTITY}
    subprocess.run(["git", *arguments], cwd=where, env=environ, check=True)
