"""How set-up lines and test commands are found."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.environment.config import CONFIG_PATH, parse_config
from sandbox.environment.detect.python_tests import PYTEST
from sandbox.environment.plan import make_plan
from sandbox.environment.version import scm_environment
from sandbox.errors import ConfigInvalid
from tests.fakes import MemorySource

TESTS = {"tests/test_a.py": ""}
PROJECT = "[project]\nname = 'a'\n"


@pytest.mark.parametrize(
    ("files", "setup"),
    [
        ({"pyproject.toml": PROJECT}, ["pip install -e ."]),
        (
            {"pyproject.toml": PROJECT + "[project.optional-dependencies]\ndev=[]\ntests=[]\n"},
            ["pip install -e '.[tests]'"],
        ),
        (
            {"pyproject.toml": PROJECT + "[dependency-groups]\ndev=[]\n"},
            ["pip install --upgrade 'pip>=25.1'", "pip install --group dev", "pip install -e ."],
        ),
        (
            {"setup.cfg": "[metadata]\nname=a\n[options.extras_require]\ntest=\n  x\n"},
            ["pip install -e '.[test]'"],
        ),
        (
            {"setup.py": "from setuptools import setup\nsetup(extras_require={'testing': ['x']})"},
            ["pip install -e '.[testing]'"],
        ),
        ({"setup.py": "not python ("}, ["pip install -e ."]),
        (
            {"setup.py": "", "tests/requirements.txt": "x", "requirements-dev.txt": "y"},
            ["pip install -r requirements-dev.txt", "pip install -e ."],
        ),
        ({"requirements.txt": "x"}, ["pip install -r requirements.txt"]),
        (
            {
                "setup.py": "",
                "dev.txt": "",
                "tox.ini": "[testenv]\ndeps =\n  -rdev.txt\n  py3: mock>=2\n  {x}\n  .[doc]\n",
            },
            ["pip install -r dev.txt 'mock>=2'", "pip install -e ."],
        ),
        (
            {
                "pyproject.toml": PROJECT
                + "[tool.poetry.group.dev.dependencies]\npython='^3'\nattrs='^22.1'\nx={git='u'}\n"
            },
            ["pip install 'attrs>=22.1' x", "pip install -e ."],
        ),
        (
            {
                "pyproject.toml": PROJECT
                + "[tool.hatch.envs.hatch-test]\nextra-dependencies=['a b']"
            },
            ["pip install 'a b'", "pip install -e ."],
        ),
    ],
)
async def test_python_detection(files: dict[str, str], setup: list[str]) -> None:
    """Each way to name test dependencies leads to its line; pytest comes last."""
    plan = await make_plan(MemorySource({**files, **TESTS}))
    assert list(plan.setup) == [*setup, "pip install pytest"]
    assert (plan.language, plan.runner, plan.test) == ("python", "pytest", PYTEST)


async def test_tool_settings_are_no_project() -> None:
    """A pyproject.toml that only configures a tool beside a package.json is not Python."""
    files = {"pyproject.toml": "[tool.ruff]\n", "package.json": '{"scripts": {"test": "jest"}}'}
    plan = await make_plan(MemorySource(files))
    assert (plan.language, plan.runner) == ("node", "jest")


@pytest.mark.parametrize(
    ("script", "test", "runner"),
    [
        ("mocha test/*.js", "npm test", "mocha"),
        ("eslint . && node --test", "node --test", "node"),
        ("jest && eslint .", "npx --no-install jest", "jest"),
        ("./run", "npm test", "exit_code"),
        ('echo \\"Error: no test specified\\" && exit 1', "", "exit_code"),
    ],
)
async def test_node_detection(script: str, test: str, runner: str) -> None:
    """The placeholder npm writes is no test; options need a plain last call."""
    package = f'{{"scripts": {{"test": "{script}"}}}}'
    plan = await make_plan(MemorySource({"package.json": package, "package-lock.json": "{}"}))
    assert (plan.test, plan.runner) == (test, runner)
    assert plan.setup[0].startswith("npm ci ")


@pytest.mark.parametrize("text", ["{", "[]", '{"scripts": []}'])
async def test_odd_package_json(text: str) -> None:
    """A package.json that is none does not break detection."""
    plan = await make_plan(MemorySource({"package.json": text}))
    assert plan.test == ""


async def test_nothing_recognised() -> None:
    """A repository without manifests has a plan that does nothing."""
    plan = await make_plan(MemorySource({"README": ""}))
    assert (plan.language, plan.setup, plan.test) == ("unknown", (), "")


async def test_config_wins_over_detection() -> None:
    """Each of the two comes from the first place that has it, and `origin` says where."""
    files = {
        "pyproject.toml": PROJECT,
        ".github/prism.yml": "env:\n  test: python -m unittest discover\nother: 1\n",
        **TESTS,
    }
    plan = await make_plan(MemorySource(files))
    assert plan.setup[0] == "pip install -e ."
    assert (plan.test, plan.runner) == ("python -m unittest discover", "unittest")
    assert plan.origin == "set-up: pyproject.toml; test: .github/prism.yml"


def test_config_forms() -> None:
    """One line or a list; an empty file sets nothing."""
    assert parse_config(b"env: {setup: ' a '}").setup == ("a",)
    assert parse_config(b"env: {setup: []}").setup == ()
    assert parse_config(b"env: {setup: }").setup is None
    assert parse_config(b"env:\n  setup: [a, b]\n  test: c").setup == ("a", "b")
    assert parse_config(b"").test == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("env: [", "line"),
        ("- a", "mapping"),
        ("env: a", "`env`"),
        ("env: {setup: 3}", "env.setup"),
        ("env: {setup: [a, {b: c}]}", "env.setup"),
        ("env: {test: [a]}", "env.test"),
        ("env: {image: [a]}", "env.image"),
        ("env: !!python/object/apply:os.system [id]", "YAML"),
        ("x: " + "a" * 70_000, "64 kB"),
    ],
)
def test_malformed_config_is_named(text: str, says: str) -> None:
    """The error names file and key."""
    with pytest.raises(ConfigInvalid, match=r"\.github/prism\.yml") as caught:
        parse_config(text.encode())
    assert says in str(caught.value)


@given(data=st.binary(max_size=200))
def test_config_never_crashes(data: bytes) -> None:
    """Any bytes are either settings or a clear error."""
    with suppress(ConfigInvalid):
        parse_config(data)


async def test_version_for_projects_that_ask_git() -> None:
    """The version is PKG-INFO's; without one it is higher than any lower bound."""
    asks = {"pyproject.toml": "[build-system]\nrequires=['setuptools_scm']"}
    variables = await scm_environment(
        MemorySource({**asks, "PKG-INFO": "Name: a\nVersion: 9.1.4\n"})
    )
    assert variables["SETUPTOOLS_SCM_PRETEND_VERSION"] == "9.1.4"
    assert (await scm_environment(MemorySource(asks)))["PBR_VERSION"] == "999.0.0"
    assert await scm_environment(MemorySource({"pyproject.toml": PROJECT})) == {}


async def test_an_empty_list_of_lines_is_an_answer() -> None:
    """Maintainers who say that nothing is to be installed get nothing installed."""
    text = "env:\n  setup: []\n  test: sh check.sh\n"
    files = {CONFIG_PATH: text, "pyproject.toml": "[project]\nname = 'x'\n", "test_x.py": ""}
    plan = await make_plan(MemorySource(files))
    assert (plan.setup, plan.test, plan.origin) == ((), "sh check.sh", CONFIG_PATH)
