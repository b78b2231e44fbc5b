"""What admission works with, and who it lets in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from app.admission.payload import Event, Sender
from app.github.errors import Forbidden, Unauthorized
from app.jobs.contract import Later
from app.settings import Settings

if TYPE_CHECKING:
    from app.github.client import GitHubApp, GitHubRepo

BAD_KEY_WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Admission:
    """The ledger, the settings and the App."""

    engine: AsyncEngine
    settings: Settings
    github: "GitHubApp"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a delivery, for the inbox, and the runs to wake."""

    text: str
    run_ids: tuple[str, ...] = ()


async def why_not(repo: "GitHubRepo", event: Event) -> str:
    """The reason why the sender may not start Prism, "" when they may.

    Asked of GitHub, now: write access or more, by the collaborator API, for the same numeric
    id. Whatever GitHub does not answer clearly is a no; GitHubUnavailable is passed on, to be
    tried again.
    """
    sender = event.sender
    if reason := _why_no_person(sender, repo.identity.login):
        return reason
    try:
        permission = await repo.permission(sender.login)
    except Forbidden as error:
        return f"the App may not look up permissions ({error.message})"
    except Unauthorized as error:
        raise Later(BAD_KEY_WAIT_S, f"The App's key is not accepted: {error.message}") from error
    if permission is None:
        return "not a collaborator"
    if permission.lets_write(sender.id):
        return ""
    if permission.user_id != sender.id:
        return "the login belongs to somebody else now"
    return f"role {permission.role} is less than write"


def _why_no_person(sender: Sender, own_login: str) -> str:
    if sender.login.lower() == own_login.lower():
        return "the App itself"
    return "" if sender.type == "User" else f"sender is a {sender.type.lower()}"
