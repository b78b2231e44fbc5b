"""Which files of a repository decide what a set-up installs, and which lines may be left out.

Two commits with the same of these files can share what was installed. Too many files only cost
time; one too few would let a commit plant something in the environments of later ones.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from posixpath import basename

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.sharing.lines import runs_own_code

# Code, texts and pictures that no known installer reads. All other files count.
_PLAIN = re.compile(
    r"""
    .+\.(py|pyi|js|jsx|ts|tsx|mjs|cjs|vue|svelte|go|rs|java|kt|scala|rb|php|c|h|cc|cpp|hpp|cs
    |md|rst|adoc|txt|html|css|scss|less|svg|png|jpe?g|gif|ico|webp|po|pot|ipynb|snap)
    | LICEN[CS]E | COPYING | NOTICE | AUTHORS | CHANGELOG | README
    """,
    re.VERBOSE,
)
_COUNTED = re.compile(
    r"""
    (setup|conftest|noxfile|(site|user)customize|build|hatch_build|pdm_build)\.(py|rs)
    | .*requirements.*\.txt | .*constraints.*\.txt | runtime\.txt | CMakeLists\.txt
    | conanfile\.(py|txt) | .+\.(config|conf|setup)\.[cm]?[jt]sx? | pnpmfile\.[cm]?js
    """,
    re.VERBOSE,
)
_COUNTED_FOLDERS = re.compile(
    r"(^|/)(\.[^/]+|requirements|node_modules|vendor|[^/]+\.(egg|dist)-info)/"
)
_FIXTURES = re.compile(
    r"(^|/)(tests?|__tests__|spec|fixtures|testdata|docs?)/.*\.(json|ya?ml|csv|xml)$"
)
_NODE = re.compile(r"\s*(CI=\S+\s+)?(npm\s+(ci|install|i)|pnpm\s+(install|i)|yarn(\s+install)?)\b")
_NODE_HOOKS = {"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare"}


async def inputs(source: Source, plan: EnvironmentPlan) -> tuple[tuple[str, str], ...]:
    """The (path, object name) pairs a set-up depends on, sorted by path.

    The commit itself when its lines may run code of the tree: then only the same commit is the
    same. Else every file that is not plainly code, text, picture or a test's data.
    """
    blobs = await source.blobs()
    if await runs_own_code(source, plan, blobs):
        return (("", source.base_commit),)
    return counted(blobs)


def counted(blobs: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The files that count for lines of known installers."""
    return tuple((path, blobs[path]) for path in sorted(blobs) if not _is_plain(path))


def _is_plain(path: str) -> bool:
    name = basename(path)
    if name.startswith(".") or _COUNTED.fullmatch(name) or _COUNTED_FOLDERS.search(path):
        return False
    manifest = name in {"package.json", "package-lock.json", "npm-shrinkwrap.json", "composer.json"}
    return bool(_PLAIN.fullmatch(name) or (_FIXTURES.search(path) and not manifest))


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
