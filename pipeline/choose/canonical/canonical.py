"""The canonical form of a unit: level N4."""

from pipeline.choose.canonical.units import Unit, plain


def canonical(units: tuple[Unit, ...]) -> tuple[str, ...]:
    """One text for each definition of a name, the same for code that does the same (as far as
    the rewrites of this folder go). Raises RecursionError when nested too deeply."""
    return plain(units)
