"""The detectors in order, and the directory of a repository they are asked about.

Every directory with a manifest is a candidate: the root first, then the shallow ones. Pure
reading; nothing is executed.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.go import detect_go
from sandbox.environment.detect.java import detect_java
from sandbox.environment.detect.make import detect_make
from sandbox.environment.detect.node import detect_node
from sandbox.environment.detect.php import detect_php
from sandbox.environment.detect.python import NO_MANIFEST, detect_python
from sandbox.environment.detect.ruby import detect_ruby
from sandbox.environment.detect.rust import detect_rust
from sandbox.environment.documents import below

Detector = Callable[[Source, tuple[str, ...], str], Awaitable[EnvironmentPlan | None]]

DETECTORS: Mapping[str, Detector] = {
    "python": detect_python,
    "node": detect_node,
    "go": detect_go,
    "rust": detect_rust,
    "java": detect_java,
    "ruby": detect_ruby,
    "php": detect_php,
    "make": detect_make,
}
# Which language most of a directory is written in decides who is asked first.
_SUFFIXES: Mapping[str, str] = {
    **dict.fromkeys((".py", ".pyx"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".vue"), "node"),
    ".go": "go",
    ".rs": "rust",
    **dict.fromkeys((".java", ".kt", ".scala", ".groovy"), "java"),
    ".rb": "ruby",
    ".php": "php",
}
_MANIFEST = re.compile(
    r"pyproject\.toml|setup\.py|setup\.cfg|requirements\.txt|Pipfile|package\.json|go\.mod"
    r"|Cargo\.toml|pom\.xml|build\.gradle(\.kts)?|Gemfile|[\w.-]+\.gemspec|composer\.json"
    r"|Makefile|CMakeLists\.txt"
)
_NOT_OURS = re.compile(
    r"(^|/)(node_modules|vendor|third_party|external|examples?|samples?|docs?|fixtures?|testdata"
    r"|tests?|__tests__|spec|bench(marks?)?|templates?|\.[^/]+|dist|build|site-packages)(/|$)"
)
_DIRECTORY_LIMIT = 30


async def detect(
    source: Source,
    files: tuple[str, ...],
    hints: tuple[str, ...] = (),
    directory: str | None = None,
) -> EnvironmentPlan | None:
    """The plan of the repository, or of `directory` alone when one is given.

    `hints` are files the issue names; a project that holds most of them goes before others.
    Otherwise the first directory with tests is taken, else the first that can be installed.
    Other projects that were seen are named in `notes`.
    """
    candidates = [directory] if directory is not None else directories(files, hints)
    plans: list[EnvironmentPlan] = []
    for candidate in candidates:
        plan = await _detect_in(source, files, candidate)
        if plan is not None:
            plans.append(plan)
        if plan is not None and _completeness(plan)[0]:
            break
    chosen = max(plans, key=_completeness, default=None)
    if chosen is None:
        return None
    others = [one for one in candidates if one != chosen.directory][:8]
    if not others:
        return chosen
    named = ", ".join(one or "the root" for one in others)
    return replace(chosen, notes=(*chosen.notes, f"Manifests elsewhere, not used: {named}."))


def directories(files: tuple[str, ...], hints: tuple[str, ...]) -> list[str]:
    """Directories that hold a manifest, those with most of the named files first.

    A hint counts for the deepest directory above it. The root is always one.
    """
    found = {""}
    for path in files:
        folder, _, name = path.rpartition("/")
        if _MANIFEST.fullmatch(name) and not _NOT_OURS.search(folder):
            found.add(folder)
    named = Counter(_holder(hint, found) for hint in hints)
    ordered = sorted(found, key=lambda one: (-named[one], one.count("/") + bool(one), one))
    return ordered[:_DIRECTORY_LIMIT]


def _holder(path: str, folders: set[str]) -> str:
    while path:
        path = path.rpartition("/")[0]
        if path in folders:
            return path
    return ""


async def _detect_in(
    source: Source, files: tuple[str, ...], directory: str
) -> EnvironmentPlan | None:
    """Ask every detector about one directory; the first with tests wins, else the first."""
    plans = []
    for name in _by_share(below(files, directory)):
        plan = await DETECTORS[name](source, files, directory)
        if plan is not None:
            plans.append(plan)
        if plan is not None and _completeness(plan)[0]:
            break
    return max(plans, key=_completeness, default=None)


def _completeness(plan: EnvironmentPlan) -> tuple[bool, bool]:
    return plan.origin != NO_MANIFEST and bool(plan.test), bool(plan.test)


def _by_share(files: tuple[str, ...]) -> list[str]:
    """Languages by how many files they have here; equal ones in the table's order."""
    count: Counter[str] = Counter()
    for path in files:
        if not _NOT_OURS.search(path.rpartition("/")[0]):
            suffix = "." + path.rsplit(".", 1)[-1]
            count[_SUFFIXES.get(suffix, "")] += 1
    return sorted(DETECTORS, key=lambda name: -count[name])
