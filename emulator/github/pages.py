"""Plain pages."""

from starlette.routing import Route

from emulator.github.hub import GitHub


def routes(state: GitHub) -> list[Route]:
    """None yet."""
    return []
