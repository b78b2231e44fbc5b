"""Python lock files: the line that installs exactly what they say."""

from shlex import quote

from sandbox.environment.detect.python_extras import extras
from sandbox.environment.detect.python_manifests import TEST_NAMES, Manifests, best_test_name
from sandbox.environment.detect.python_needs import dependency_groups
from sandbox.environment.documents import table
from sandbox.environment.tools import install_python_tool

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")


def lock_file(manifests: Manifests) -> str:
    """The lock file that counts, "" without one."""
    return next((name for name in _LOCKS if manifests.has(name)), "")


def lock_lines(manifests: Manifests) -> list[str]:
    """Install the manager, then what is locked into the environment of the tests.

    Every manager is told to use the environment that commands find first, so that nothing but
    `python -m pytest` is needed afterwards.
    """
    name = lock_file(manifests)
    if not name:
        return []
    if name == "uv.lock":
        return [install_python_tool("uv"), _uv(manifests)]
    if name == "poetry.lock":
        return [install_python_tool("poetry"), _poetry(manifests)]
    if name == "pdm.lock":
        return [install_python_tool("pdm"), "pdm sync -d"]
    return [install_python_tool("pipenv"), "pipenv sync --dev"]


def _uv(manifests: Manifests) -> str:
    """`dev` is uv's default group; the environment must not lose pip and uv themselves."""
    group = best_test_name(dependency_groups(manifests))
    extra = best_test_name(extras(manifests))
    options = ["--frozen", "--inexact"]
    if table(manifests.tool, "uv", "workspace"):
        options.append("--all-packages")
    options += [f"--group {quote(group)}"] if group not in ("", "dev") else []
    options += [f"--extra {quote(extra)}"] if extra else []
    # A Python of its own could not be fetched; the image's has to do.
    return (
        'UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" '
        f"uv sync {' '.join(options)}"
    )


def _poetry(manifests: Manifests) -> str:
    groups = table(manifests.tool, "poetry", "group")
    optional = [
        name
        for name, group in groups.items()
        if isinstance(group, dict) and group.get("optional") is True and name in TEST_NAMES
    ]
    extra = best_test_name(extras(manifests))
    options = ["--no-interaction"]
    options += [f"--with {','.join(optional)}"] if optional else []
    options += [f"--extras {quote(extra)}"] if extra else []
    if not manifests.installable:
        options.append("--no-root")
    return "poetry install " + " ".join(options)
