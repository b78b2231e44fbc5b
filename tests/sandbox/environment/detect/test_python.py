"""How Python projects are recognised: lock files, tox, nox, settings, imports, layouts."""

import pytest

from sandbox.base import EnvironmentPlan
from sandbox.environment.detect.python import detect_python
from sandbox.environment.detect.python_tests import PYTEST
from sandbox.environment.detect.tox import command
from tests.fakes import MemorySource

PROJECT = "[build-system]\nrequires=['hatchling']\n[project]\nname='a'\n"
TESTS = {"tests/test_a.py": ""}


async def plan_of(files: dict[str, str], directory: str = "") -> EnvironmentPlan:
    found = await detect_python(MemorySource(files), tuple(sorted(files)), directory)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("lock", "pyproject", "line"),
    [
        (
            "uv.lock",
            "[dependency-groups]\ndev=[]\ntests=[]\n[project.optional-dependencies]\ntest=[]\n"
            "[tool.uv.workspace]\nmembers=['x']\n",
            'UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" uv sync --frozen '
            "--inexact --all-packages --group tests --extra test || { ",
        ),
        ("uv.lock", "", 'UV_PROJECT_ENVIRONMENT="$VIRTUAL_ENV" uv sync --frozen --inexact || {'),
        (
            "poetry.lock",
            "[tool.poetry.group.test]\noptional=true\n[tool.poetry.extras]\nci=[]\n",
            "poetry install --no-interaction --with test --extras ci || { ",
        ),
        ("poetry.lock", "[tool.poetry]\npackage-mode=false\n", "--no-root || {"),
        ("pdm.lock", "", "pdm sync -d || { pip install -e .; }"),
        ("Pipfile.lock", "", "pipenv sync --dev || { pip install -e .; }"),
    ],
)
async def test_lock_files(lock: str, pyproject: str, line: str) -> None:
    """What is locked goes into the environment of the tests; pip is the way out of a failure."""
    plan = await plan_of({lock: "", "pyproject.toml": PROJECT + pyproject, **TESTS})
    assert line in plan.setup[1]
    assert lock.partition(".")[0].lower().replace("pipfile", "pipenv") in plan.setup[0]
    assert plan.origin == f"pyproject.toml, {lock}"
    assert plan.test == PYTEST


async def test_pipfile_without_lock() -> None:
    """The packages of a Pipfile are installed by pip."""
    pipfile = (
        "[packages]\nrequests='*'\nflask={version='>=2', extras=['async']}\n"
        "[dev-packages]\npytest='~7.1'\n[[source]]\nurl='u'\n"
    )
    plan = await plan_of({"Pipfile": pipfile, **TESTS})
    assert plan.setup == (
        "pip install requests 'flask[async]>=2' 'pytest>=7.1'",
        "pip install pytest",
    )


@pytest.mark.parametrize(
    ("files", "setup"),
    [
        (
            {"tox.toml": "[env_run_base]\ndeps=['a>1', '-r dev.txt']\n", "dev.txt": ""},
            "pip install 'a>1' -r dev.txt",
        ),
        (
            {
                "pyproject.toml": PROJECT
                + "[tool.tox]\nlegacy_tox_ini='''\n[testenv]\ndeps = b\n'''"
            },
            "pip install b",
        ),
        (
            {
                "noxfile.py": "import nox\n@nox.session(python=['3.11'])\ndef lint(s):\n"
                "    s.install('flake8')\n@nox.session\ndef tests(session):\n"
                "    session.install('-e', '.[x]', 'c', '-r', 'gone.txt')\n"
                "    session.install(*EXTRA)\n    session.run('pytest', *session.posargs)\n"
            },
            "pip install c",
        ),
        (
            {
                "tox.ini": "[testenv]\ndeps =\n  all\n  py: ours\n  py38,lint: other\n"
                "  !lint: not-lint\n  x: git\n  git+https://example.org/x\n  z @ https://e.org/z\n"
            },
            "pip install all ours not-lint",
        ),
        ({"requirements/tests.txt": "d"}, "pip install -r requirements/tests.txt"),
        ({"requirements.dev.txt": "d"}, "pip install -r requirements.dev.txt"),
    ],
)
async def test_needs_of_tests(files: dict[str, str], setup: str) -> None:
    """Dependencies of tests are found wherever one of the usual tools keeps them."""
    plan = await plan_of({"pyproject.toml": PROJECT, **TESTS, **files})
    assert plan.setup == (setup, "pip install -e .", "pip install pytest")


async def test_unlisted_needs_are_taken_from_imports() -> None:
    """Known packages that tests import or ask for; never a name that only a test mentions."""
    plan = await plan_of(
        {
            "setup.py": "",
            "shop/__init__.py": "",
            "tests/test_a.py": "import os, yaml\nimport shop\nfrom dateutil import x\n"
            "import unheard_of\ntry:\n    import numpy\nexcept ImportError: pass\n"
            "def test_a(mocker): pass\n@pytest.mark.asyncio\nasync def test_b(): pass\n",
        }
    )
    assert plan.setup[0] == "pip install PyYAML pytest-asyncio pytest-mock python-dateutil"


@pytest.mark.parametrize(
    ("name", "text", "plugins"),
    [
        ("pytest.ini", "[pytest]\naddopts = -n auto --cov=a\n", "pytest-cov pytest-xdist"),
        ("setup.cfg", "[tool:pytest]\nasyncio_mode = auto\n", "pytest-asyncio"),
        (
            "tox.ini",
            "[pytest]\nDJANGO_SETTINGS_MODULE = a.b\ntimeout = 3\n",
            "pytest-timeout pytest-django",
        ),
        (
            "pyproject.toml",
            PROJECT + "[tool.pytest.ini_options]\naddopts = ['--cov']\n",
            "pytest-cov",
        ),
    ],
)
async def test_plugins_of_settings(name: str, text: str, plugins: str) -> None:
    """pytest refuses options of plugins that are not there, so they are installed with it."""
    plan = await plan_of({"setup.py": "", **TESTS, name: text})
    assert plan.setup[-1] == f"pip install pytest {plugins}"


@pytest.mark.parametrize(
    ("files", "test", "runner"),
    [
        ({"a/tests.py": ""}, "python -m unittest discover", "unittest"),
        ({"manage.py": "", "a/tests.py": ""}, "python manage.py test", "exit_code"),
        ({"tox.ini": "[testenv]\ncommands = trial {posargs:a.b}\n"}, "trial a.b", "exit_code"),
        (
            {
                "tox.ini": "[testenv]\ncommands =\n  pip list\n"
                "  pytest --cov x {posargs:tests docs}\n",
                **TESTS,
            },
            f"{PYTEST} tests",
            "pytest",
        ),
        (
            {
                "tox.ini": "[testenv]\ncommands = coverage run -m unittest discover tests\n",
                **TESTS,
            },
            "python -m unittest discover tests",
            "unittest",
        ),
        (
            {
                "noxfile.py": "@session()\ndef test(session):\n"
                "    session.run('python', '-m', 'unittest', '-q')\n"
            },
            "python -m unittest -q",
            "unittest",
        ),
        (
            {
                "tox.ini": "[testenv]\nchangedir = {toxinidir}/tests\ncommands =\n"
                "  {envpython} runtests.py {posargs}\n"
            },
            "cd tests && python runtests.py",
            "exit_code",
        ),
        (
            {
                "tox.ini": "[testenv]\nchangedir = tests\ncommands = pytest unit\n",
                "tests/unit/a": "",
            },
            f"{PYTEST} tests/unit",
            "pytest",
        ),
        ({"pytest.ini": "[pytest]\npython_files = check_*.py\n"}, PYTEST, "pytest"),
        ({"a.py": ""}, "", "exit_code"),
    ],
)
async def test_test_commands(files: dict[str, str], test: str, runner: str) -> None:
    """pytest where its conventions fit, the project's own command where they do not."""
    plan = await plan_of({"setup.py": "", **files})
    assert (plan.test, plan.runner) == (test, runner)


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("pytest --cov=a --cov-report xml {posargs}", "python -m pytest"),
        ("{envpython} -m pytest {toxinidir}/tests", "python -m pytest tests"),
        ("coverage run -p --source a -m pytest", "python -m pytest"),
        ("coverage run --parallel-mode runtests.py", "python runtests.py"),
        ("- pytest {env:MARK:-m fast}", "python -m pytest -m fast"),
        ("pytest {envsitepackagesdir}/a", ""),
        ("sh -c 'a; b'", ""),
    ],
)
def test_tox_commands(line: str, becomes: str) -> None:
    """Substitutions with a known value are made; a command with another one is not taken."""
    assert command(line) == becomes


async def test_tests_without_manifest() -> None:
    """A folder of tests is a project: its packages are guessed and `src` is importable."""
    plan = await plan_of({"src/a.py": "", "test_a.py": "import a, hypothesis\n"})
    assert plan.setup == ("pip install hypothesis", "pip install pytest")
    assert plan.variables == (("PYTHONPATH", "src:."),)
    assert plan.origin == "test files"


async def test_application_without_build_system() -> None:
    """What cannot be installed as a package still gets its dependencies."""
    plan = await plan_of({"pyproject.toml": "[project]\nname='a'\ndependencies=['b>1']\n", **TESTS})
    assert "pip install -e . || pip install 'b>1'" in plan.setup


async def test_directory_of_a_monorepo() -> None:
    """Only files below the directory count, and it is the plan's."""
    files = {
        "requirements-test.txt": "",
        "libs/a/pyproject.toml": PROJECT,
        "libs/a/requirements-dev.txt": "",
        "libs/a/tests/test_a.py": "",
    }
    plan = await plan_of(files, "libs/a")
    assert plan.directory == "libs/a"
    assert plan.setup[0] == "pip install -r requirements-dev.txt"


async def test_setup_py_is_read_by_name() -> None:
    """Extras in variables and by subscript are found; the file is never run."""
    text = "extras = {'doc': []}\nextras['tests'] = ['x']\nsetup(extras_require=extras)\nexit(1)\n"
    assert "pip install -e '.[tests]'" in (await plan_of({"setup.py": text, **TESTS})).setup


async def test_newer_python_is_noted() -> None:
    """A version the image does not have is said, not acted upon."""
    plan = await plan_of({"pyproject.toml": PROJECT + "requires-python='>=3.13'\n", **TESTS})
    assert plan.notes == ("pyproject.toml asks for Python >=3.13, the image has 3.11.",)
