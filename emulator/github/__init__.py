"""A local GitHub: the REST subset a GitHub App uses, git over HTTP, webhooks and pages."""

from emulator.github.hub import GitHub

__all__ = ["GitHub"]
