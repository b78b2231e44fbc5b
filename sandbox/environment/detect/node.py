"""Detect how a Node project is set up and tested, from package.json and its lock file."""

import re
from typing import Any

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.declared.script import LINE_LIMIT
from sandbox.environment.detect.node_manager import Managed, choose_manager, install_lines
from sandbox.environment.detect.node_script import TestScript, find_test_script
from sandbox.environment.documents import below, read_json, read_text, table, texts

_HUSKY = re.compile(r"^[\s\w@./-]*(husky|lefthook|simple-git-hooks|is-ci|skip-ci|patch-package)\b")
IMAGE_NODE = 24
_LOCK_HEAD = 4_000


async def detect_node(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the package.json in `directory`, None without a usable one.

    The manager is the one of the lock file; yarn and pnpm are installed by npm first. Tests are
    run by the script that runs nothing else where the `test` script leads to one.
    """
    here = below(files, directory)
    if "package.json" not in here:
        return None

    def path(name: str) -> str:
        return f"{directory}/{name}" if directory else name

    package = read_json(await read_text(source, path("package.json")))
    if not package:
        return None
    managed = choose_manager(package, here, await lock_head(source, here, directory))
    scripts = {
        k: v
        for k, v in table(package, "scripts").items()
        if isinstance(v, str) and len(v) <= LINE_LIMIT
    }
    found = find_test_script(scripts)
    prepare = scripts.get("prepare", "")
    lines = install_lines(managed, prepare=bool(prepare and not _HUSKY.match(prepare)))
    workspaces = _has_workspaces(package, here)
    if workspaces and "build" in scripts:
        # Members see each other as they are published, so built.
        lines.append(f"{managed.name} run build || echo 'the build failed; going on without it'")
    test = _line(managed, found) if found else _of_members(managed) if workspaces else ""
    return EnvironmentPlan(
        language="node",
        setup=tuple(lines),
        test=test,
        runner=found.runner if found else "exit_code",
        origin=path("package.json") + (f" and {managed.lock}" if managed.lock else ""),
        directory=directory,
        notes=await _notes(source, path, here, package),
    )


async def lock_head(source: Source, files: tuple[str, ...], directory: str = "") -> str:
    """The beginning of the lock files whose format tells a version; they may be huge."""
    heads = []
    for name in ("yarn.lock", "pnpm-lock.yaml"):
        path = f"{directory}/{name}" if directory else name
        data = await source.read(path) if name in files else None
        heads.append((data or b"")[:_LOCK_HEAD].decode(errors="replace"))
    return "\n".join(heads)


def _line(managed: Managed, found: TestScript) -> str:
    """How the tests are run: `npm` knows how to leave out a script's hooks."""
    if found.command:
        return _direct(managed, found.command)
    name = found.name
    if managed.manager != "npm":
        return f"{managed.name} run {name}"
    plain = "npm test" if name == "test" else f"npm run {name}"
    return f"{plain} --ignore-scripts" if found.hooks == "other" else plain


def _direct(managed: Managed, command: str) -> str:
    """One command of a script, with the programs of the packages on its path."""
    if managed.manager == "berry":
        return f"yarn exec {command}"
    variables = re.match(r"(?:[A-Z_][A-Z0-9_]*=(?:'[^']*'|[^\s$`'\"]*)\s+)*", command)
    start = variables[0] if variables else ""
    rest = command[len(start) :]
    if rest.startswith(("node ", "npm ", "npx ", "yarn ", "pnpm ", "make ", "./")):
        return start + rest
    return f"{start}npx --no-install {rest}"


def _of_members(managed: Managed) -> str:
    return {
        "npm": "npm test --workspaces --if-present",
        "pnpm": "pnpm -r --if-present run test",
        "yarn": "yarn workspaces run test",
        "berry": "yarn workspaces foreach --all run test",
    }[managed.manager]


def _has_workspaces(package: dict[str, Any], files: tuple[str, ...]) -> bool:
    workspaces = package.get("workspaces")
    members = texts(workspaces) or texts(table(package, "workspaces").get("packages"))
    return bool(members) or "pnpm-workspace.yaml" in files


def _satisfied(wanted: str) -> bool:
    """Whether a range of versions plainly admits the image's: `>=18`, `^24`, `20 || 24.x`."""
    least = [int(one) for one in re.findall(r">=?\s*v?(\d{1,4})", wanted)]
    if any(one <= IMAGE_NODE for one in least) and "<" not in wanted:
        return True
    return bool(re.search(rf"(^|[\s^~|]){IMAGE_NODE}\b", wanted)) or wanted.strip() in {"*", ""}


async def _notes(
    source: Source, path: Any, files: tuple[str, ...], package: dict[str, Any]
) -> tuple[str, ...]:
    notes = []
    wanted = table(package, "engines").get("node")
    if isinstance(wanted, str) and not _satisfied(wanted):
        notes.append(f"package.json asks for Node.js {wanted[:60]}; the image's is used.")
    for name in (".nvmrc", ".node-version"):
        version = (await read_text(source, path(name))).strip() if name in files else ""
        if version and not re.match(rf"v?{IMAGE_NODE}\b", version):
            notes.append(f"{name} asks for Node.js {version[:60]}; the image's is used.")
    if "bun.lock" in files or "bun.lockb" in files:
        notes.append("The lock file of bun is not read; npm resolves afresh.")
    return tuple(notes)
