"""Detect how a Node project is set up and tested, from its package.json."""

import json

from sandbox.base import EnvironmentPlan, Source, SuiteRunner

_LOCKS = {"package-lock.json", "npm-shrinkwrap.json"}
_PLACEHOLDER = "no test specified"
_QUIET = "--no-audit --no-fund"


async def detect_node(source: Source, files: tuple[str, ...]) -> EnvironmentPlan | None:
    """The plan of a package.json at the root, None without a usable one.

    Install scripts run when they can; a package whose scripts fail is installed without them.
    Lock files of other package managers are not read: npm resolves afresh, which `origin` says.
    """
    if "package.json" not in files:
        return None
    try:
        package = json.loads(await source.read("package.json") or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(package, dict):
        return None
    locked = next((name for name in sorted(_LOCKS) if name in files), "")
    verb = "ci" if locked else "install"
    foreign = next((name for name in ("yarn.lock", "pnpm-lock.yaml") if name in files), "")
    scripts = package.get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    has_test = isinstance(script, str) and bool(script.strip()) and _PLACEHOLDER not in script
    return EnvironmentPlan(
        language="node",
        setup=(f"npm {verb} {_QUIET} || npm {verb} {_QUIET} --ignore-scripts",),
        test="npm test" if has_test else "",
        runner=_runner(script) if has_test and isinstance(script, str) else "exit_code",
        origin=f"package.json{' and ' + locked if locked else ''}"
        + (f" ({foreign} is not read)" if foreign and not locked else ""),
    )


def _runner(script: str) -> SuiteRunner:
    """The runner of a plain script; options can only be added to the last call of one."""
    last = script.rsplit("&&", maxsplit=1)[-1].strip()
    words = last.split()
    if "mocha" in words:
        return "mocha"
    if "jest" in words:
        return "jest"
    if words[:1] == ["node"] and "--test" in words:
        return "node"
    return "exit_code"
