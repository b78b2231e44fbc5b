"""Detect how a Go module or workspace is set up and tested, from go.mod or go.work."""

import re
from shlex import quote

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree, inside

# Compiles every package with its tests and runs none of them: `true` is run in their place.
_COMPILE = "go test -exec true {} >/dev/null || echo 'Some packages do not build.'"


async def detect_go(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the module in `directory`, or of all modules of a go.work there.

    Modules are downloaded and everything is compiled once, so that later runs need no network
    and compile what changed. What is vendored is not downloaded. A newer Go than the image's is
    fetched by Go itself while there is a network.
    """
    tree = Tree(source, files, directory)
    if tree.has("go.work"):
        modules = _used(await tree.text("go.work"))
        modules = tuple(one for one in modules if tree.has(inside(one, "go.mod")))
        if modules:
            packages = " ".join(quote("./" + inside(one, "...")) for one in modules)
            return _plan(tree, "go.work", packages, vendored=tree.has("vendor/modules.txt"))
    if not tree.has("go.mod"):
        return None
    return _plan(tree, "go.mod", "./...", vendored=tree.has("vendor/modules.txt"))


def _plan(tree: Tree, manifest: str, packages: str, vendored: bool) -> EnvironmentPlan:
    download = () if vendored else ("go mod download",)
    return EnvironmentPlan(
        language="go",
        setup=(*download, _COMPILE.format(packages)),
        test=f"go test {packages}" if tree.any(r"_test\.go$") else "",
        runner="go",
        origin=tree.name(manifest) + (" and vendor" if vendored else ""),
        directory=tree.directory,
    )


def _used(text: str) -> tuple[str, ...]:
    """Folders named by `use` in a go.work, one or in a block."""
    text = re.sub(r"//[^\n]*", "", text)
    blocks = "\n".join(re.findall(r"^use\s*\(([^)]*)\)", text, re.MULTILINE))
    single = re.findall(r"^use\s+([^\s(]+)", text, re.MULTILINE)
    return tuple(one.strip('"`').removeprefix("./") for one in (*single, *blocks.split()))
