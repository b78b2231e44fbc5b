"""A plan as the text of `.github/prism.yml` that would pin it: what a maintainer can copy."""

import json
import re
from collections.abc import Iterator

from sandbox.base import EnvironmentPlan

# Words that YAML reads as something else than text, and signs that it gives a meaning.
_PLAIN = re.compile(r"[A-Za-z0-9./_][A-Za-z0-9 ./_=+@,%^~()-]*")
_NOT_TEXT = re.compile(
    r"(true|false|yes|no|on|off|null|y|n|~|[\d._eExXoObBa-fA-F+-]+)", re.IGNORECASE
)


def pinned(plan: EnvironmentPlan) -> str:
    """YAML that gives the same set-up lines, test command and surroundings as `plan`."""
    return "\n".join(["env:", *(f"  {line}" for line in _lines(plan))]) + "\n"


def _lines(plan: EnvironmentPlan) -> Iterator[str]:
    yield from _listed("setup", plan.setup) if plan.setup else ("setup: []",)
    if plan.test:
        yield f"test: {scalar(plan.test)}"
    if plan.directory:
        yield f"directory: {scalar(plan.directory)}"
    if plan.image:
        yield f"image: {scalar(plan.image)}"
    yield from _listed("apt", plan.packages)
    if plan.variables:
        yield "vars:"
        yield from (f"  {scalar(name)}: {scalar(value)}" for name, value in plan.variables)
    yield from _listed("hosts", plan.hosts)


def _listed(key: str, values: tuple[str, ...]) -> Iterator[str]:
    if values:
        yield f"{key}:"
        yield from (f"  - {scalar(value)}" for value in values)


def scalar(text: str) -> str:
    """Text as a YAML scalar on one line: plain where that is safe, else in double quotes."""
    is_plain = _PLAIN.fullmatch(text) and not text.endswith(" ") and not _NOT_TEXT.fullmatch(text)
    # JSON's strings are YAML's, but for the signs that only YAML wants escaped
    quoted = json.dumps(text, ensure_ascii=False)
    written = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)
    return text if is_plain else written
