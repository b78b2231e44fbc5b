"""The places in which maintainers write down how a repository is set up, in order."""

import posixpath
import re
from dataclasses import replace

from sandbox.base import Source
from sandbox.environment.declared.copilot import declared_by_copilot
from sandbox.environment.declared.devcontainer import declared_by_devcontainer
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.openhands import declared_by_script

_REQUIREMENTS = re.compile(r"\bpip3? install\b[^\n&;|]*?\s-r[ =]?([\w./-]+)")
_PLACES = (declared_by_copilot, declared_by_script, declared_by_devcontainer)


async def declared(source: Source, files: tuple[str, ...]) -> tuple[Declared, ...]:
    """What was said, up to and with the first place that has set-up lines.

    So only the last entry can have lines to use; those before it only left notes.
    """
    seen: list[Declared] = []
    for place in _PLACES:
        found = await place(source, files)
        if found is not None:
            found = _without_stale(found, files)
            seen.append(found)
            if found.setup:
                break
    return tuple(seen)


def _without_stale(found: Declared, files: tuple[str, ...]) -> Declared:
    """No lines at all when one names a requirements file that is gone: nobody uses them now."""
    named = [name for line in found.setup for name in _REQUIREMENTS.findall(line)]
    gone = [name for name in named if posixpath.normpath(name) not in files]
    moves = any(re.search(r"(^|\n|&&)\s*cd\s", line) for line in found.setup)
    if not gone or moves:
        return found
    note = f"{found.origin} was left out: it names {gone[0][:80]}, which does not exist."
    return replace(found, setup=(), notes=(*found.notes, note))
