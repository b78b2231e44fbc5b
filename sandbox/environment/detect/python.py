"""Detect how a Python project is set up and tested, from its manifests."""

import ast
import configparser
import re
import shlex
import tomllib
from dataclasses import dataclass
from typing import Any

from sandbox.base import EnvironmentPlan, Source

TEST_NAMES = ("test", "tests", "testing", "dev")
TEST_COMMAND = "python -m pytest -q"
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_REQUIREMENTS = (
    *(
        pattern.format(name)
        for name in TEST_NAMES
        for pattern in (
            "requirements-{}.txt",
            "requirements_{}.txt",
            "{}-requirements.txt",
            "{}_requirements.txt",
            "requirements/{}.txt",
        )
    ),
    "tests/requirements.txt",
    "test/requirements.txt",
)


@dataclass(frozen=True, slots=True)
class _Manifests:
    """The parsed manifests; what is missing or malformed is empty."""

    pyproject: dict[str, Any]
    setup_cfg: configparser.ConfigParser
    tox: configparser.ConfigParser
    setup_py: str


async def detect_python(source: Source, files: tuple[str, ...]) -> EnvironmentPlan | None:
    """The plan of a Python project at the root, None when there is no manifest of one.

    The project is installed in place with the first extra named test, tests, testing or dev;
    to that come the first dependency group or requirements file of such a name, else the
    dependencies of tox.ini, and pytest. Lock files are not read (thin).
    """
    present = [name for name in _MANIFESTS if name in files]
    manifests = await _read_manifests(source)
    if not present or (present == ["pyproject.toml"] and not _is_project(manifests.pyproject)):
        return None
    lines = _test_dependencies(manifests, files)
    if "requirements.txt" in present:
        lines.append("pip install -r requirements.txt")
    # After its dependencies, so that nothing replaces the project by a copy of itself.
    if any(name in present for name in _MANIFESTS[:3]) and _installable(manifests, present):
        extra = _first(_extras(manifests))
        lines.append("pip install -e " + shlex.quote(f".[{extra}]" if extra else "."))
    lines.append("pip install pytest")
    return EnvironmentPlan(
        language="python",
        setup=tuple(lines),
        test=TEST_COMMAND if _has_tests(files) else "",
        runner="pytest",
        origin=", ".join(present),
    )


async def _read_manifests(source: Source) -> _Manifests:
    async def text(path: str) -> str:
        return (await source.read(path) or b"").decode(errors="replace")

    try:
        pyproject = tomllib.loads(await text("pyproject.toml"))
    except (tomllib.TOMLDecodeError, RecursionError):
        pyproject = {}
    return _Manifests(
        pyproject=pyproject,
        setup_cfg=_ini(await text("setup.cfg")),
        tox=_ini(await text("tox.ini")),
        setup_py=await text("setup.py"),
    )


def _ini(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return configparser.ConfigParser(interpolation=None)
    return parser


def _is_project(pyproject: dict[str, Any]) -> bool:
    """A pyproject.toml may hold only the settings of some tool."""
    return any(key in pyproject for key in ("project", "build-system", "dependency-groups")) or (
        "poetry" in _table(pyproject, "tool")
    )


def _installable(manifests: _Manifests, present: list[str]) -> bool:
    return (
        "setup.py" in present
        or "project" in manifests.pyproject
        or "build-system" in manifests.pyproject
        or "metadata" in manifests.setup_cfg
    )


def _extras(manifests: _Manifests) -> set[str]:
    extras = set(_table(manifests.pyproject, "project", "optional-dependencies"))
    extras |= set(_table(manifests.pyproject, "tool", "poetry", "extras"))
    if manifests.setup_cfg.has_section("options.extras_require"):
        extras |= set(manifests.setup_cfg.options("options.extras_require"))
    return extras | _setup_py_extras(manifests.setup_py)


def _setup_py_extras(text: str) -> set[str]:
    """Keys of a literal `extras_require={…}` in setup.py, which is read and never run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    dicts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "extras_require"
    ]
    return {
        key.value
        for value in dicts
        if isinstance(value, ast.Dict)
        for key in value.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def _test_dependencies(manifests: _Manifests, files: tuple[str, ...]) -> list[str]:
    """Further lines for what the tests need, from the first place that names it."""
    group = _first(set(_table(manifests.pyproject, "dependency-groups")))
    if group:
        return ["pip install --upgrade 'pip>=25.1'", f"pip install --group {group}"]
    named = next((path for path in _REQUIREMENTS if path in files), "")
    if named:
        return [f"pip install -r {named}"]
    listed = _tool_dependencies(manifests.pyproject) or _tox_dependencies(manifests.tox)
    return ["pip install " + " ".join(shlex.quote(one) for one in listed)] if listed else []


def _tool_dependencies(pyproject: dict[str, Any]) -> list[str]:
    """Development dependencies of uv, pdm, hatch and poetry, as pip understands them."""
    tool = _table(pyproject, "tool")
    pdm = _table(tool, "pdm", "dev-dependencies")
    lists = [_table(tool, "uv").get("dev-dependencies"), pdm.get(_first(set(pdm)))]
    for name in ("hatch-test", *TEST_NAMES, "default"):
        env = _table(tool, "hatch", "envs", name)
        lists += [env.get("dependencies"), env.get("extra-dependencies")]
    found = next((one for one in lists if isinstance(one, list) and one), [])
    if found:
        return [one for one in found if isinstance(one, str)]
    groups = _table(tool, "poetry", "group")
    poetry = _table(groups, _first(set(groups)), "dependencies")
    poetry = poetry or _table(tool, "poetry", "dev-dependencies")
    return [_from_poetry(name, value) for name, value in poetry.items() if name != "python"]


def _from_poetry(name: str, value: Any) -> str:
    """A poetry constraint for pip: `^1.2` becomes `>=1.2`, what pip cannot say is left out."""
    version = value.get("version", "") if isinstance(value, dict) else value
    if not isinstance(version, str):
        return name
    version = re.sub(r"^\^", ">=", version.strip())
    return name + version if re.fullmatch(r"([<>=!~]=?[\w.]+,? ?)+", version) else name


def _tox_dependencies(tox: configparser.ConfigParser) -> list[str]:
    """Plain lines of `[testenv] deps`: no substitutions, no paths, factors only as a prefix."""
    listed: list[str] = []
    for raw in tox.get("testenv", "deps", fallback="").splitlines():
        line = re.sub(r"^[\w,!.-]+: +", "", raw.split(" #")[0].strip())
        if not line or "{" in line or line[0] in "#./" or line.startswith("-e"):
            continue
        requirements = re.match(r"-r\s*(\S+)$", line)
        listed += ["-r", requirements.group(1)] if requirements else [line]
    return listed


def _has_tests(files: tuple[str, ...]) -> bool:
    return any(re.search(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py$", path) for path in files)


def _first(names: set[str]) -> str:
    return next((name for name in TEST_NAMES if name in names), "")


def _table(value: Any, *keys: str) -> dict[str, Any]:
    """A nested table, {} when any step is missing or something else."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
