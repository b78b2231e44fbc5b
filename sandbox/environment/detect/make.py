"""Detect a test target of a Makefile, or a CMake project with tests; the last resort."""

import re

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_TARGETS = ("test", "check", "tests")


async def detect_make(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of a Makefile with a target `test`, `check` or `tests`, or of a CMakeLists.txt.

    Which language they hold is unknown, so a C and C++ compiler is installed. The build is part
    of the test line too: what a patch changes must be built again.
    """
    tree = Tree(source, files, directory)
    for name in _MAKEFILES:
        if tree.has(name):
            targets = _targets(await tree.text(name))
            found = next((target for target in _TARGETS if target in targets), "")
            if found:
                build = ("make || echo 'The default target does not build.'",)
                return _plan(tree, name, build, f"make {found}", ("build-essential",))
    if tree.has("CMakeLists.txt"):
        return await _cmake(tree)
    return None


async def _cmake(tree: Tree) -> EnvironmentPlan:
    text = await tree.text("CMakeLists.txt")
    tests = re.search(r"\b(enable_testing|include\s*\(\s*CTest)\b", text, re.IGNORECASE)
    # Outside the tree: a build folder in it would be one of the project's own names.
    build = 'cmake --build "$HOME/build"'
    return _plan(
        tree,
        "CMakeLists.txt",
        ('cmake -S . -B "$HOME/build"', build),
        f'{build} && ctest --test-dir "$HOME/build" --output-on-failure' if tests else "",
        ("build-essential", "cmake"),
    )


def _plan(
    tree: Tree, manifest: str, setup: tuple[str, ...], test: str, packages: tuple[str, ...]
) -> EnvironmentPlan:
    return EnvironmentPlan(
        language="unknown",
        setup=setup,
        test=test,
        runner="exit_code",
        origin=tree.name(manifest),
        directory=tree.directory,
        packages=packages,
    )


def _targets(text: str) -> frozenset[str]:
    """Names that stand before a colon at the start of a line; not those of `:=`."""
    heads = re.findall(r"^([\w. -]+)::?(?!=)", text, re.MULTILINE)
    return frozenset(name for head in heads for name in head.split())
