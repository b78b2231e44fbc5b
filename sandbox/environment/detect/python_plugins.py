"""Well-known packages that a test suite uses without any manifest naming them.

Only names of the two tables are ever installed: a module's name is no proof of whose package
it comes from.
"""

import ast
import re
from collections.abc import Mapping

from sandbox.environment.detect.python_manifests import Manifests
from sandbox.environment.documents import read_ini, read_python, table, texts

_FILE_COUNT = 60
# Options and settings of pytest that it refuses without their plugin.
_PLUGINS: tuple[tuple[str, str], ...] = (
    (r"--(no-)?cov\b", "pytest-cov"),
    (r"(^|\s)-n[ =]?(\d+|auto|logical)|--dist\b|--numprocesses", "pytest-xdist"),
    (r"--timeout\b|^timeout\b", "pytest-timeout"),
    (r"asyncio_mode|--asyncio-mode|asyncio_default", "pytest-asyncio"),
    (r"DJANGO_SETTINGS_MODULE|--ds\b|--reuse-db", "pytest-django"),
    (r"--benchmark", "pytest-benchmark"),
    (r"--reruns", "pytest-rerunfailures"),
    (r"--(disable|allow)-(socket|hosts)", "pytest-socket"),
    (r"--randomly|-p randomly", "pytest-randomly"),
    (r"--mypy(?![-\w])", "pytest-mypy"),
    (r"--flake8\b", "pytest-flake8"),
    (r"--snapshot", "syrupy"),
    (r"--doctest-plus|doctest_plus", "pytest-doctestplus"),
    (r"mock_use_standalone_module", "pytest-mock"),
    (r"^env\b", "pytest-env"),
)
_FIXTURES: tuple[tuple[str, str], ...] = (
    (r"def test\w*\([^)]*\bmocker\b", "pytest-mock"),
    (r"pytest\.mark\.asyncio", "pytest-asyncio"),
    (r"pytest\.mark\.django_db", "pytest-django"),
    (r"pytest\.mark\.timeout", "pytest-timeout"),
    (r"pytest\.mark\.anyio", "anyio"),
    (r"def test\w*\([^)]*\bhttpx_mock\b", "pytest-httpx"),
    (r"def test\w*\([^)]*\brequests_mock\b", "requests-mock"),
    (r"def test\w*\([^)]*\bbenchmark\b", "pytest-benchmark"),
    (r"def test\w*\([^)]*\bhttpbin\b", "pytest-httpbin"),
    (r"def test\w*\([^)]*\bsubtests\b", "pytest-subtests"),
)
_SAME_NAMES = (
    "anyio",
    "attrs",
    "ddt",
    "django",
    "docutils",
    "flask",
    "freezegun",
    "httpx",
    "hypothesis",
    "lxml",
    "mock",
    "multidict",
    "nose",
    "numpy",
    "pandas",
    "parameterized",
    "pretend",
    "psutil",
    "pydantic",
    "pygments",
    "pytz",
    "requests",
    "responses",
    "rich",
    "scipy",
    "simplejson",
    "six",
    "sqlalchemy",
    "tornado",
    "trio",
    "trustme",
    "typeguard",
    "wcwidth",
    "werkzeug",
)
_MODULES: Mapping[str, str] = {
    **{name: name for name in _SAME_NAMES},
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "flaky": "flaky",
    "jinja2": "Jinja2",
    "PIL": "Pillow",
    "pytest_asyncio": "pytest-asyncio",
    "pytest_mock": "pytest-mock",
    "requests_mock": "requests-mock",
    "testfixtures": "testfixtures",
    "time_machine": "time-machine",
    "typing_extensions": "typing_extensions",
    "yaml": "PyYAML",
    "zope": "zope.interface",
}


async def pytest_settings(manifests: Manifests) -> str:
    """Everything pytest is told by configuration files, as `key = value` lines."""
    own = table(manifests.tool, "pytest", "ini_options") or table(manifests.tool, "pytest")
    lines = [f"{key} = {' '.join(texts(value)) or value}" for key, value in own.items()]
    for name in ("pytest.ini", ".pytest.ini"):
        ini = read_ini(await manifests.text(name)) if manifests.has(name) else None
        if ini is not None and ini.has_section("pytest"):
            lines += [f"{key} = {value}" for key, value in ini.items("pytest")]
    for parser, section in ((manifests.tox, "pytest"), (manifests.setup_cfg, "tool:pytest")):
        if parser.has_section(section):
            lines += [f"{key} = {value}" for key, value in parser.items(section)]
    return "\n".join(lines)


def configured_plugins(settings: str) -> list[str]:
    """The plugins without which pytest would refuse its configuration."""
    return [
        name for sign, name in _PLUGINS if re.search(sign, settings, re.MULTILINE | re.IGNORECASE)
    ]


async def imported_packages(manifests: Manifests) -> list[str]:
    """Known packages that test files import or whose fixtures they ask for, sorted."""
    own = {path.split("/")[0].removesuffix(".py") for path in manifests.files}
    own |= {path.split("/")[1] for path in manifests.files if path.startswith(("src/", "lib/"))}
    found: set[str] = set()
    for path in [one for one in manifests.files if _is_test_code(one)][:_FILE_COUNT]:
        text = await manifests.text(path)
        modules = _imported(read_python(text)) - own
        found |= {_MODULES[module] for module in modules if module in _MODULES}
        found |= {name for sign, name in _FIXTURES if re.search(sign, text)}
    return sorted(found)


def _is_test_code(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return bool(re.fullmatch(r"conftest\.py|test_.*\.py|.*_test\.py|tests?\.py", name)) or (
        name.endswith(".py") and bool(re.search(r"(^|/)tests?/", path))
    )


def _imported(tree: ast.Module) -> set[str]:
    """Top names of the modules imported at the outermost level, where nothing is optional."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names
