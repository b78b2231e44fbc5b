"""Detect how a Python project is set up and tested, from its manifests and file names."""

import re
from itertools import pairwise
from shlex import quote

from sandbox.base import EnvironmentPlan, Source
from sandbox.environment.detect.python_extras import extras
from sandbox.environment.detect.python_locks import lock_file, lock_lines
from sandbox.environment.detect.python_manifests import Manifests, best_test_name, read_manifests
from sandbox.environment.detect.python_needs import (
    dependency_groups,
    from_poetry,
    pip_install,
    test_needs,
)
from sandbox.environment.detect.python_plugins import (
    configured_plugins,
    imported_packages,
    pytest_settings,
)
from sandbox.environment.detect.python_tests import test_command
from sandbox.environment.detect.tox import read_tox
from sandbox.environment.documents import below, table, texts
from sandbox.environment.python_version import IMAGE_PYTHON

NO_MANIFEST = "test files"


async def detect_python(
    source: Source, files: tuple[str, ...], directory: str = ""
) -> EnvironmentPlan | None:
    """The plan of the Python project in `directory`, None when there is none.

    With a lock file its manager installs what is locked, and pip what is declared when that
    fails. Otherwise the project is installed in place with its test extra; to that come the
    first dependency group or requirements file for tests, else the dependencies of tox or nox,
    else well-known packages that the tests import; and pytest with the plugins its settings
    need. A folder of tests without any manifest is a project too.
    """
    manifests = await read_manifests(source, below(files, directory), directory)
    settings = await pytest_settings(manifests)
    test, runner = await test_command(manifests, settings)
    if not manifests.is_project and not (test and not manifests.present and runner == "pytest"):
        return None
    lines = await _install(manifests)
    locked = lock_file(manifests)
    if locked:
        declared = " && ".join(lines) or "true"
        manager, sync = lock_lines(manifests)
        lines = [manager, f"{sync} || {{ {declared}; }}"]
    if runner == "pytest" or not test:
        lines.append(pip_install(["pytest", *configured_plugins(settings)]))
    return EnvironmentPlan(
        language="python",
        setup=tuple(dict.fromkeys(lines)),
        test=test,
        runner=runner,
        origin=", ".join([*manifests.present, *([locked] if locked else [])]) or NO_MANIFEST,
        directory=directory,
        variables=_variables(manifests),
        notes=_notes(manifests),
    )


async def _install(manifests: Manifests) -> list[str]:
    """pip lines for the tests' needs, requirements.txt and the project, in this order.

    The project comes last, so that nothing replaces it by a published copy of itself.
    """
    extra = await _extra(manifests)
    needs = _existing(manifests, await test_needs(manifests))
    lines = needs or await _guessed(manifests, bool(extra))
    if "requirements.txt" in manifests.present:
        lines.append("pip install -r requirements.txt")
    if manifests.installable:
        lines.append(_editable(manifests, extra))
    elif "project" in manifests.pyproject or table(manifests.tool, "poetry"):
        listed = _dependencies(manifests)
        lines += [pip_install(listed)] if listed else []
    return lines


async def _guessed(manifests: Manifests, declared: bool) -> list[str]:
    """Known packages that tests import, when nothing says what they need."""
    listed = [] if declared else await imported_packages(manifests)
    return [pip_install(listed)] if listed else []


def _existing(manifests: Manifests, lines: list[str]) -> list[str]:
    """Without `-r` of files that are not there (they would fail the whole line)."""
    kept = []
    for line in lines:
        words = line.split(" ")
        pairs = enumerate(pairwise(words))
        gone = {i for i, (one, path) in pairs if one == "-r" and not manifests.has(path)}
        gone |= {i + 1 for i in gone}
        rest = [word for i, word in enumerate(words) if i not in gone]
        kept += [" ".join(rest)] if len(rest) > 2 else []
    return kept


async def _extra(manifests: Manifests) -> str:
    """The extra for tests: by its name, or the one tox asks for."""
    known = extras(manifests)
    asked = [name for name in (await read_tox(manifests)).extras if name in known]
    return best_test_name(known) or (asked[0] if asked else "")


def _editable(manifests: Manifests, extra: str) -> str:
    line = "pip install -e " + quote(f".[{extra}]" if extra else ".")
    backend = "build-system" in manifests.pyproject or "setup.py" in manifests.present
    listed = _dependencies(manifests)
    if backend or not listed:
        return line
    # An application without a build system may be no package; what it needs is still known.
    return f"{line} || {pip_install(listed)}"


def _dependencies(manifests: Manifests) -> list[str]:
    project = table(manifests.pyproject, "project")
    chosen = table(project, "optional-dependencies").get(best_test_name(extras(manifests)))
    poetry = from_poetry(table(manifests.tool, "poetry", "dependencies"))
    return [*texts(project.get("dependencies")), *texts(chosen), *poetry]


def _variables(manifests: Manifests) -> tuple[tuple[str, str], ...]:
    """The module path of a `src` layout that nothing installs."""
    in_src = any(path.startswith("src/") and path.endswith(".py") for path in manifests.files)
    return (("PYTHONPATH", "src:."),) if in_src and not manifests.installable else ()


def _notes(manifests: Manifests) -> tuple[str, ...]:
    wanted = table(manifests.pyproject, "project").get("requires-python")
    wanted = wanted.strip()[:60] if isinstance(wanted, str) else ""
    newer = re.match(r">=?\s*3\.(\d{1,3})\b", wanted)
    notes = []
    if newer and int(newer[1]) > int(IMAGE_PYTHON.split(".")[1]):
        notes.append(f"pyproject.toml asks for Python {wanted}, the image has {IMAGE_PYTHON}.")
    groups = sorted(dependency_groups(manifests))
    chosen = best_test_name(set(groups))
    others = [name for name in groups if name != chosen][:8]
    notes += [f"Dependency groups not used: {', '.join(others)}."] if others else []
    return tuple(notes)
