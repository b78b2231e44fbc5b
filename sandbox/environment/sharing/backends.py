"""Which pyproject.toml describe a build that runs nothing of the project.

Everything is a list of what is known to be harmless: a key nobody thought of is not.
"""

import re
from collections.abc import Mapping
from typing import Any

_REQUIRED = re.compile(
    r"(setuptools|wheel|hatchling|poetry[-_]core|uv[-_]build)(\[toml\])?\s*([<>=!~][\w.*<>=!~, ]*)?"
)
_SETUPTOOLS = {"packages", "package-dir", "package-data", "exclude-package-data", "zip-safe"} | {
    "include-package-data", "py-modules", "license-files", "dynamic",
}  # fmt: skip
_HATCH_FILES = {"packages", "include", "exclude", "only-include", "sources"}
_UV = {"module-root", "module-name", "namespace"}
_POETRY_ACTS = {"build", "plugins", "include"}
# A program of the project by one of these names would be run by installers.
_TOOLS = re.compile(
    r"(pip|python|uv|poetry|pypy|git|hg|svn|gcc|g\+\+|cc|c\+\+|ld|ar|make|cmake|ninja|node|npm|npx"
    r"|sh|bash|env|cargo|rustc|pkg-config|keyring|go)[\d.]*"
)


def is_declarative(manifest: Mapping[str, Any]) -> bool:
    """Whether a known backend builds the project in place from names and patterns alone.

    May raise AttributeError or TypeError for a manifest of an odd shape.
    """
    build = manifest.get("build-system", {})
    known = _BACKENDS.get(build.get("build-backend", ""))
    if known is None or set(build) != {"requires", "build-backend"}:
        return False
    if not all(_REQUIRED.fullmatch(one) for one in build["requires"]):
        return False
    return _project_is_plain(manifest.get("project", {})) and known(manifest.get("tool", {}))


def _project_is_plain(project: Mapping[str, Any]) -> bool:
    extras = project.get("optional-dependencies", {}).values()
    needs = [*project.get("dependencies", []), *(one for extra in extras for one in extra)]
    scripts = [*project.get("scripts", {}), *project.get("gui-scripts", {})]
    return (
        not any("@" in one for one in needs)
        and set(project.get("entry-points", {})) <= {"pytest11"}
        and not any(_TOOLS.fullmatch(name) for name in scripts)
    )


def _setuptools(tool: Mapping[str, Any]) -> bool:
    own = tool.get("setuptools", {})
    dynamic = own.get("dynamic", {}).values()
    return (
        set(own) <= _SETUPTOOLS
        and all(set(one) <= {"file", "content-type"} for one in dynamic)
        and "distutils" not in tool
        and "setuptools_scm" not in tool
    )


def _hatch(tool: Mapping[str, Any]) -> bool:
    own = tool.get("hatch", {})
    build = own.get("build", {})
    return (
        set(own) <= {"version", "build", "envs", "publish"}
        and set(own.get("version", {})) <= {"path", "pattern"}
        and set(build) <= {"targets", *_HATCH_FILES}
        and all(set(one) <= _HATCH_FILES for one in build.get("targets", {}).values())
    )


def _poetry(tool: Mapping[str, Any]) -> bool:
    own = tool.get("poetry", {})
    scripts = own.get("scripts", {})
    needs = [own.get("dependencies", {}), own.get("dev-dependencies", {})]
    wanted = [each for section in needs for each in section.values()]
    return (
        not _POETRY_ACTS & set(own)
        and all(isinstance(target, str) for target in scripts.values())
        and not any(_TOOLS.fullmatch(name) for name in scripts)
        and all(
            isinstance(one, str)
            or (isinstance(one, dict) and not {"path", "url", "git"} & set(one))
            for one in wanted
        )
    )


def _uv(tool: Mapping[str, Any]) -> bool:
    return set(tool.get("uv", {}).get("build-backend", {})) <= _UV


_BACKENDS = {
    "setuptools.build_meta": _setuptools,
    "hatchling.build": _hatch,
    "poetry.core.masonry.api": _poetry,
    "uv_build": _uv,
}
