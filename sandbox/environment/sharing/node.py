"""Whether `npm` may run files of the tree while it installs."""

import json
import re
from collections.abc import Mapping
from posixpath import basename
from typing import Any

from sandbox.base import Source

_LOCKS = ("npm-shrinkwrap.json", "package-lock.json")
_HOOKS = frozenset(
    {"preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"}
    | {"dependencies"}
)
_NEEDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_RANGE = re.compile(r"[\w.^~<>=|*+ -]*|npm:(@[\w.-]+/)?[\w.-]+(@[\w.^~<>=|*+ -]*)?")
_PLAIN_SETTING = re.compile(
    r"\s*([#;].*|(@[\w.-]+:)?registry\s*=.*|(package-lock|save-exact|save-prefix|engine-strict"
    r"|legacy-peer-deps|audit|fund|loglevel|progress)\s*=\s*[\w~^]*)?\s*"
)


async def node_runs_own_code(source: Source, directory: str, blobs: Mapping[str, str]) -> bool:
    """Whether more than package.json, lock file and .npmrc decides what is installed and run.

    Install scripts of packages count as well: some load a configuration from the project.
    """
    below = f"{directory}/" if directory else ""
    lock = next((below + name for name in _LOCKS if below + name in blobs), "")
    settings = [path for path in blobs if basename(path) == ".npmrc"]
    return (
        not lock
        or any("node_modules/" in path or basename(path) == "binding.gyp" for path in blobs)
        or _manifest_acts(_json(await source.read(f"{below}package.json")))
        or _lock_acts(_json(await source.read(lock)))
        or any([not _is_plain(await source.read(path)) for path in settings])
    )


def _json(data: bytes | None) -> Any:
    try:
        return json.loads(data or b"")
    except (ValueError, RecursionError):
        return None


def _manifest_acts(package: Any) -> bool:
    if not isinstance(package, dict) or not {"workspaces", "overrides"}.isdisjoint(package):
        return True
    scripts = package.get("scripts", {})
    if not isinstance(scripts, dict) or not _HOOKS.isdisjoint(scripts):
        return True
    for section in (package.get(name, {}) for name in _NEEDS):
        if not isinstance(section, dict) or not all(map(_is_published, section.values())):
            return True
    return False


def _is_published(wanted: object) -> bool:
    return isinstance(wanted, str) and _RANGE.fullmatch(wanted) is not None


def _lock_acts(lock: Any) -> bool:
    packages = lock.get("packages") if isinstance(lock, dict) else None
    if not isinstance(packages, dict):
        return True  # the first format does not tell which packages have install scripts
    return any(
        not isinstance(package, dict)
        or bool(package.get("hasInstallScript") or package.get("link"))
        or not str(package.get("resolved", "https:")).startswith("https:")
        or not (name == "" or name.startswith("node_modules/"))
        for name, package in packages.items()
    )


def _is_plain(settings: bytes | None) -> bool:
    text = (settings or b"").decode(errors="replace")
    return all(_PLAIN_SETTING.fullmatch(line) for line in text.splitlines())
