"""Which files of a repository decide what a set-up installs, and which lines may be left out.

Two commits with the same of these files can share what was installed. Too many files only cost
time; one too few would leave an old package in a new environment.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from posixpath import basename, normpath

from sandbox.base import EnvironmentPlan, Source

_MANIFESTS = re.compile(
    r"""
    pyproject\.toml | setup\.(py|cfg) | .*requirements.*\.(txt|in|lock) | constraints.*\.txt
    | Pipfile(\.lock)? | (poetry|pdm|uv|pylock)\.(lock|toml) | tox\.ini | noxfile\.py | PKG-INFO
    | environment\.ya?ml | runtime\.txt | \.(python|node|ruby|java|go|php|rust)-version
    | \.tool-versions | \.?mise\.toml | \.nvmrc | \.npmrc | \.yarnrc(\.yml)? | \.sdkmanrc
    | package\.json | package-lock\.json | npm-shrinkwrap\.json | yarn\.lock | lerna\.json
    | pnpm-(lock|workspace)\.yaml | bun\.lockb?
    | go\.(mod|sum|work) | go\.work\.sum | Cargo\.(toml|lock) | rust-toolchain(\.toml)?
    | pom\.xml | (build|settings)\.gradle(\.kts)? | gradle\.(properties|lockfile)
    | libs\.versions\.toml | (gradle|maven)-wrapper\.properties | extensions\.xml
    | Gemfile(\.lock)? | .*\.gemspec | composer\.(json|lock) | mix\.(exs|lock)
    | .*\.csproj | packages\.lock\.json | Directory\.(Build|Packages)\.props | global\.json
    | (GNU)?[Mm]akefile | .*\.mk | CMakeLists\.txt | conanfile\.(py|txt) | vcpkg\.json
    """,
    re.VERBOSE,
)
_FOLDERS = re.compile(r"(^|/)(requirements/[^/]*\.(txt|in)|\.cargo/config(\.toml)?|\.mvn/[^/]*)$")
_WORDS = re.compile(r"[\w./@+-]+")
_NODE = re.compile(r"\s*(CI=\S+\s+)?(npm\s+(ci|install|i)|pnpm\s+(install|i)|yarn(\s+install)?)\b")
_NODE_HOOKS = {"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare"}


def inputs(plan: EnvironmentPlan, blobs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The (path, object name) pairs a set-up depends on, sorted by path.

    Manifests, lock files and tool versions of any language in any folder, and every file that a
    set-up line names, as a path from the tree's root or from the plan's folder.
    """
    named = {
        normpath(f"{folder}/{word}" if folder else word)
        for line in plan.setup
        for word in _WORDS.findall(line)
        for folder in {"", plan.directory}
    }
    return tuple(
        (path, blobs[path])
        for path in sorted(blobs)
        if path in named or _MANIFESTS.fullmatch(basename(path)) or _FOLDERS.search(path)
    )


async def without_repeats(source: Source, plan: EnvironmentPlan) -> EnvironmentPlan:
    """The plan for a place that was set up with the same inputs already.

    Installing Node packages empties their folder and fills it again; that is left out where the
    project hooks nothing of its own into it. All other lines stay: they are cheap when nothing
    is missing, and some build the project itself.
    """
    manifest = f"{plan.directory}/package.json" if plan.directory else "package.json"
    if not any(_installs_node(line) for line in plan.setup):
        return plan
    if _has_hooks(await source.read(manifest) or b""):
        return plan
    kept = tuple(line for line in plan.setup if not _installs_node(line))
    return replace(plan, setup=kept)


def _installs_node(line: str) -> bool:
    parts = re.split(r"\|\||&&", line)
    return all(_NODE.match(part) and not re.search(r"[;|&$`()<>]", part) for part in parts)


def _has_hooks(manifest: bytes) -> bool:
    try:
        package = json.loads(manifest)
    except ValueError:
        return True
    if not isinstance(package, dict) or "workspaces" in package:
        return True
    scripts = package.get("scripts") or {}
    return not isinstance(scripts, dict) or not _NODE_HOOKS.isdisjoint(scripts)
