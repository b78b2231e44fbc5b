"""A version for projects that ask git for theirs: the sandbox has no history of them."""

import re
from collections.abc import Mapping

from sandbox.base import Source

# Higher than any lower bound a dependency may put on the project itself.
UNKNOWN_VERSION = "999.0.0"
_MARKS = re.compile(
    rb"setuptools[_-]scm|hatch-vcs|\bpbr\b|versioningit|dynamic-versioning|pdm-backend"
)
_VARIABLES = (
    "SETUPTOOLS_SCM_PRETEND_VERSION",
    "PBR_VERSION",
    "POETRY_DYNAMIC_VERSIONING_BYPASS",
    "UV_DYNAMIC_VERSIONING_BYPASS",
    "PDM_BUILD_SCM_VERSION",
)


async def scm_environment(source: Source) -> Mapping[str, str]:
    """Variables for the set-up lines of a project whose version comes from git, else {}.

    The version is that of PKG-INFO when the tree has one, else 999.0.0.
    """
    for manifest in ("pyproject.toml", "setup.cfg", "setup.py"):
        if _MARKS.search(await source.read(manifest) or b""):
            break
    else:
        return {}
    found = re.search(
        rb"^Version: *([\w.!+-]+)", await source.read("PKG-INFO") or b"", re.MULTILINE
    )
    version = found.group(1).decode() if found else UNKNOWN_VERSION
    return dict.fromkeys(_VARIABLES, version)
