"""What the tests of a Python project need beside the project itself, as pip lines."""

import re
from shlex import quote
from typing import Any

from sandbox.environment.detect.nox import read_nox
from sandbox.environment.detect.python_manifests import TEST_NAMES, Manifests, best_test_name
from sandbox.environment.detect.tox import read_tox
from sandbox.environment.documents import read_toml, table, texts

_PLACES = (
    "requirements-{}.txt",
    "requirements_{}.txt",
    "requirements.{}.txt",
    "{}-requirements.txt",
    "{}_requirements.txt",
    "requirements/{}.txt",
    "requirements/requirements-{}.txt",
    "requirements/{}-requirements.txt",
)
_REQUIREMENTS = (
    *(place.format(name) for name in TEST_NAMES for place in _PLACES),
    "tests/requirements.txt",
    "test/requirements.txt",
    "tests/requirements/py3.txt",
)
_PLAIN_VERSION = re.compile(r"[<>=!~]=?[\w.*+!-]+(, ?[<>=!~]=?[\w.*+!-]+)*")


async def test_needs(manifests: Manifests) -> list[str]:
    """Lines from the first place that names test dependencies, [] when none does."""
    group = best_test_name(dependency_groups(manifests))
    if group:
        return ["pip install --upgrade 'pip>=25.1'", f"pip install --group {quote(group)}"]
    named = next((path for path in _REQUIREMENTS if manifests.has(path)), "")
    if named:
        return [f"pip install -r {named}"]
    listed = (
        tool_dependencies(manifests)
        or await pipfile_dependencies(manifests)
        or list((await read_tox(manifests)).needs)
        or list((await read_nox(manifests)).needs)
    )
    return [pip_install(listed)] if listed else []


def pip_install(words: list[str]) -> str:
    """A pip line for requirements and its `-r file` options."""
    return "pip install " + " ".join(quote(word) for word in words)


def dependency_groups(manifests: Manifests) -> set[str]:
    """Names of the PEP 735 groups."""
    return set(table(manifests.pyproject, "dependency-groups"))


def tool_dependencies(manifests: Manifests) -> list[str]:
    """Development dependencies of uv, pdm, hatch and poetry, as pip understands them."""
    tool = manifests.tool
    pdm = table(tool, "pdm", "dev-dependencies")
    lists = [table(tool, "uv").get("dev-dependencies"), pdm.get(best_test_name(set(pdm)))]
    for name in ("hatch-test", *TEST_NAMES, "default"):
        env = table(tool, "hatch", "envs", name)
        lists += [env.get("dependencies"), env.get("extra-dependencies")]
    found = next((texts(one) for one in lists if texts(one)), ())
    if found:
        return [one for one in found if "{" not in one]
    groups = table(tool, "poetry", "group")
    poetry = table(groups, best_test_name(set(groups)), "dependencies")
    return from_poetry(poetry or table(tool, "poetry", "dev-dependencies"))


async def pipfile_dependencies(manifests: Manifests) -> list[str]:
    """Everything a Pipfile names, for pip."""
    pipfile = read_toml(await manifests.text("Pipfile")) if manifests.has("Pipfile") else {}
    return from_poetry(table(pipfile, "packages")) + from_poetry(table(pipfile, "dev-packages"))


def from_poetry(dependencies: dict[str, Any]) -> list[str]:
    """Constraints for pip: `^1.2` becomes `>=1.2`, what pip cannot say is left out."""
    return [_constraint(n, value) for n, value in dependencies.items() if n != "python" and _ok(n)]


def _ok(name: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9][\w.-]*", name))


def _constraint(name: str, value: Any) -> str:
    extra, version = "", value
    if isinstance(value, dict):
        version = value.get("version", "")
        extra = ",".join(one for one in texts(value.get("extras")) if _ok(one))
    if isinstance(value, list) or not isinstance(version, str):
        version = ""
    version = re.sub(r"^[\^~](?=\d)", ">=", version.strip())
    whole = name + (f"[{extra}]" if extra else "")
    return whole + version if _PLAIN_VERSION.fullmatch(version) else whole
