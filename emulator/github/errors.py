"""How the emulator says no: one exception that becomes GitHub's error body."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(slots=True)
class Refused(Exception):
    """A request GitHub would refuse: status, message and, for 422, the list of errors."""

    status: int
    message: str
    errors: tuple[Mapping[str, Any], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The JSON body GitHub sends with it."""
        said: dict[str, Any] = {"message": self.message, "documentation_url": DOCUMENTATION}
        if self.errors:
            said["errors"] = [dict(each) for each in self.errors]
        if self.status != 422:
            said["status"] = str(self.status)
        return said


def not_found() -> Refused:
    """404, also for what the caller may not know about."""
    return Refused(404, "Not Found")


def bad_credentials() -> Refused:
    """401 for an unknown, expired or revoked token."""
    return Refused(401, "Bad credentials")


def not_accessible() -> Refused:
    """403 for a permission or a repository the installation token does not have."""
    return Refused(403, "Resource not accessible by integration")


def invalid(resource: str, field_name: str, code: str = "invalid", message: str = "") -> Refused:
    """422 "Validation Failed" with one entry of `errors`."""
    entry = {"resource": resource, "field": field_name, "code": code}
    return Refused(422, "Validation Failed", ({**entry, "message": message} if message else entry,))
