"""Which package manager a Node project is locked with, and the lines that install by it."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.environment.tools import install_node_tool

Manager = Literal["npm", "yarn", "berry", "pnpm"]
_QUIET = "--no-audit --no-fund"
# lockfileVersion of pnpm-lock.yaml -> the last pnpm that reads it.
_PNPM = (("9", "10"), ("6", "8"), ("5", "7"))
# Berry reads no setting of npm's: it is told the registry that npm would use.
_REGISTRY = '"${YARN_NPM_REGISTRY_SERVER:-$(npm config get registry)}"'


@dataclass(frozen=True, slots=True)
class Managed:
    """A package manager: its name on the command line, its lock file, what to install of it.

    `package` is "" for npm, which the image has.
    """

    manager: Manager
    lock: str = ""
    package: str = ""

    @property
    def name(self) -> str:
        """How it is called."""
        return "yarn" if self.manager == "berry" else self.manager


def choose_manager(package: dict[str, Any], files: tuple[str, ...], lock_text: str) -> Managed:
    """By `packageManager` when its lock file is there, else by the lock file.

    `lock_text` is the text of yarn.lock or pnpm-lock.yaml (its head is enough).
    """
    asked = package.get("packageManager")
    pinned = re.match(
        r"(npm|yarn|pnpm)@(\d+(?:\.\d+){0,2})", asked if isinstance(asked, str) else ""
    )
    name, version = (pinned[1], pinned[2]) if pinned else ("", "")
    locks = [one for one in LOCKS if one in files]
    lock = next((one for one in locks if _belongs(one, name)), locks[0] if locks else "")
    if lock == "pnpm-lock.yaml" or (name == "pnpm" and not lock):
        return Managed("pnpm", lock, f"pnpm@{version or _pnpm_version(lock_text)}")
    if lock == "yarn.lock" or (name == "yarn" and not lock):
        return _yarn(lock, version, lock_text, ".yarnrc.yml" in files)
    return Managed("npm", lock)


LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock")


def _belongs(lock: str, name: str) -> bool:
    return bool(name) and (
        lock.startswith(name) or (name == "npm" and lock in {"package-lock.json", LOCKS[1]})
    )


def _pnpm_version(lock_text: str) -> str:
    found = re.search(r"^lockfileVersion: *['\"]?(\d+)", lock_text, re.MULTILINE)
    return next((version for lock, version in _PNPM if found and found[1] == lock), "10")


def _yarn(lock: str, version: str, lock_text: str, has_rc: bool) -> Managed:
    modern = "__metadata:" in lock_text or (version and not version.startswith("1")) or has_rc
    if not modern:
        return Managed("yarn", lock, "yarn@1")
    # yarn 2 and 3 are published under this name too; the lock's format does not tell which.
    return Managed("berry", lock, f"@yarnpkg/cli-dist@{version or '4'}")


def install_lines(managed: Managed, *, prepare: bool) -> list[str]:
    """Packages first without their scripts, which often need a network they are not given.

    The scripts follow (`rebuild`); one that fails leaves the packages in place. `prepare` says
    that the project has a build step of its own that belongs to an install.
    """
    if managed.manager == "npm":
        verb = "ci" if managed.lock else "install"
        # A lock that does not fit the manifest any more is no reason to stop.
        line = f"npm {verb} {_QUIET} --ignore-scripts || npm install {_QUIET}"
        lines = [line, _tolerant("npm rebuild")]
    else:
        lines = [install_node_tool(managed.package), _foreign(managed)]
    if prepare:
        lines.append(_tolerant(f"{managed.name} run prepare"))
    return lines


def _foreign(managed: Managed) -> str:
    if managed.manager == "pnpm":
        frozen = " --frozen-lockfile" if managed.lock else ""
        return f"pnpm install{frozen} || pnpm install --no-frozen-lockfile --ignore-scripts"
    if managed.manager == "yarn":
        frozen = " --frozen-lockfile" if managed.lock else ""
        plain = f"yarn install --non-interactive{frozen}"
        return f"{plain} --ignore-engines || {plain} --ignore-engines --ignore-scripts"
    registry = f"export YARN_NPM_REGISTRY_SERVER={_REGISTRY} YARN_ENABLE_TELEMETRY=0"
    return f"{registry}; yarn install --immutable || yarn install --mode=skip-build"


def _tolerant(line: str) -> str:
    return f"{line} || echo 'install scripts failed; going on without what they build'"
