"""`.openhands/setup.sh` and its like: a script a maintainer wrote for coding agents."""

from sandbox.base import Source
from sandbox.environment.declared.found import Declared
from sandbox.environment.declared.script import convert
from sandbox.environment.documents import read_text

PATHS = (".openhands/setup.sh", ".codex/setup.sh")


async def declared_by_script(source: Source, files: tuple[str, ...]) -> Declared | None:
    """The script as one line, None without one.

    It is read rather than called, so that packages it installs as root can be taken out.
    """
    path = next((one for one in PATHS if one in files), "")
    if not path:
        return None
    converted = convert(await read_text(source, path))
    note = converted.note and f"{path} was left out: it {converted.note}."
    return Declared(
        origin=path,
        setup=(converted.line,) if converted.line else (),
        packages=converted.packages,
        notes=(note,) if note else (),
    )
