"""How the tests of a Python project are run."""

import re
import shlex
from itertools import pairwise
from posixpath import normpath

from sandbox.base import SuiteRunner
from sandbox.environment.detect.nox import read_nox
from sandbox.environment.detect.python_manifests import Manifests
from sandbox.environment.detect.tox import read_tox

# A file that cannot be imported (a missing submodule, an optional package) must not hide the rest.
PYTEST = "python -m pytest -q --continue-on-collection-errors"
_COLLECTED = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
_UNITTEST = re.compile(r"(^|/)tests?(/[^/]+)*/[^/]+\.py$|(^|/)tests?\.py$")
# Options of pytest whose value is the next word.
_VALUES = frozenset(
    {"-k", "-m", "-p", "-n", "-c", "-o", "-W", "-r", "--ignore", "--deselect", "--rootdir"}
    | {"--tb", "--maxfail", "--durations", "--import-mode", "--timeout", "--dist", "--confcutdir"}
)
# Commands of tox and nox that are taken over as they are, because pytest would not do the same.
_OTHER = re.compile(
    r"python3? (-\w+ )*(\S*(runtests|run_tests|testsuite|test_all|manage|tests/__main__|tests?)\.py"
    r"|-m (unittest|django|twisted\.trial|testtools|zope\.testrunner|tests?)\b)|trial\b|stestr\b"
    r"|django-admin test|zope-testrunner|nose2\b"
)


async def test_command(manifests: Manifests, settings: str) -> tuple[str, SuiteRunner]:
    """The command and whose report it leaves; ("", "exit_code") without any sign of tests.

    pytest runs unittest's classes too and reports each test, so it is taken wherever its
    conventions or its settings fit, with the paths tox or nox give it.
    """
    tox = await read_tox(manifests)
    commands = tox.commands + (await read_nox(manifests)).commands
    files = manifests.files
    pytest_line = next((one for one in commands if re.match(r"python3? -m pytest\b", one)), "")
    if pytest_line:
        return _with_paths(pytest_line, files, tox.directory), "pytest"
    other = next((one for one in commands if _OTHER.match(one)), "")
    if other:
        moved = f"cd {tox.directory} && {other}" if tox.directory else other
        return moved, "unittest" if re.search(r"-m unittest\b", other) else "exit_code"
    collected = any(_COLLECTED.search(path) for path in files)
    if "manage.py" in files and "django_settings_module" not in settings.lower():
        return "python manage.py test", "exit_code"
    if collected or re.search(r"^(testpaths|python_files)\b", settings, re.MULTILINE):
        return PYTEST, "pytest"
    if any(_UNITTEST.search(path) for path in files):
        return "python -m unittest discover", "unittest"
    return "", "exit_code"


def _with_paths(line: str, files: tuple[str, ...], folder: str) -> str:
    """pytest on the paths a command names, as far as they exist; its options are left out.

    Options are for measuring and for machines that have the plugins.
    """
    try:
        words = shlex.split(line)[2:]
    except ValueError:
        return PYTEST
    paths = [
        normpath(f"{folder}/{word}" if folder else word)
        for before, word in pairwise(words)
        if not word.startswith("-") and before not in _VALUES
    ]
    folders = {path for path in paths if any(f == path or f.startswith(path + "/") for f in files)}
    kept = [path for path in paths if path in folders]
    return " ".join([PYTEST, *(shlex.quote(path) for path in dict.fromkeys(kept))])
