"""Facts of a run as the texts are told them."""

from tests.app.messages.conftest import facts, usage

__all__ = ["facts", "usage"]
