"""Detect how a Cargo package or workspace is set up and tested, from Cargo.toml."""

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.tree import Tree
from sandbox.environment.documents import read_toml

_COMPILE = "cargo test {}--no-run || echo 'Some targets do not build.'"


async def detect_rust(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the Cargo.toml in `directory`, all members of a workspace included.

    Dependencies are fetched as locked when there is a lock file, and everything is compiled
    once; tests run offline and compile what changed. A toolchain file is not followed: the
    image's compiler is used, which `notes` say.
    """
    tree = Tree(source, files, directory)
    if not tree.has("Cargo.toml"):
        return None
    manifest = read_toml(await tree.text("Cargo.toml"))
    if not ("package" in manifest or "workspace" in manifest):
        return None
    everything = "--workspace " if "workspace" in manifest else ""
    locked = tree.has("Cargo.lock")
    pins = [name for name in ("rust-toolchain.toml", "rust-toolchain") if tree.has(name)]
    return EnvironmentPlan(
        language="rust",
        setup=(
            "cargo fetch --locked || cargo fetch" if locked else "cargo fetch",
            _COMPILE.format(everything),
        ),
        test=f"cargo test {everything}--offline",
        runner="cargo",
        origin=tree.name("Cargo.toml") + (" and Cargo.lock" if locked else ""),
        directory=tree.directory,
        notes=tuple(f"{tree.name(pin)} names a toolchain; the image's is used." for pin in pins),
    )
