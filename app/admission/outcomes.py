"""What people made of delivered pull requests: told by a webhook or, when that was missed, asked.

Neither starts anything. Only pull requests that the ledger has a row of are looked at: one of
somebody else costs a look-up, and no request.
"""

import json
from typing import TYPE_CHECKING

import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from app.admission.payload import MalformedPayload
from app.github.errors import Refused
from app.github.values import Pull, pull_from
from app.ledger import outcomes
from app.ledger.outcomes import Seen, Waiting

if TYPE_CHECKING:
    from app.github.client import GitHubApp

ENDS = frozenset({("pull_request", "closed"), ("pull_request", "reopened")})
ASK_AFTER_S = 6 * 3600.0
ASKED_AT_ONCE = 50

log = structlog.get_logger(__name__)


async def note_end(engine: AsyncEngine, body: bytes) -> str:
    """Note how a closed or reopened pull request stands now; what to say of it in the inbox.

    Whoever did it, people and bots alike. Raises MalformedPayload.
    """
    try:
        data = json.loads(body)
        where = int(data["installation"]["id"]), int(data["repository"]["id"])
        seen = seen_of(pull_from(data["pull_request"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedPayload(f"The pull_request payload cannot be read: {error!r}") from error
    how = await outcomes.note(engine, *where, seen)
    return "ignored: no pull request of ours" if how is None else f"noted: pull request {how}"


async def ask_open(engine: AsyncEngine, github: "GitHubApp") -> int:
    """Ask GitHub about pull requests that are open as far as is known; how many are not.

    Each every six hours, one request. Raises GitHubUnavailable and RateLimited.
    """
    ended = 0
    for each in await outcomes.take_open(engine, ASK_AFTER_S, ASKED_AT_ONCE):
        try:
            seen = await _asked(github, each)
        except Refused as error:  # taken away, suspended: it may come back
            log.info("outcome not known", error=str(error))
            continue
        how = await outcomes.note(engine, each.installation_id, each.repository_id, seen)
        ended += how not in (None, "open")
    return ended


def seen_of(pull: Pull) -> Seen:
    """What counts of a pull request."""
    return Seen(pull.number, pull.head_sha, pull.state == "open", pull.is_merged, pull.updated_at)


async def _asked(github: "GitHubApp", each: Waiting) -> Seen:
    place = (each.installation_id, each.repository_id, each.repository)
    async with github.repository(*place, "talk") as repo:
        return seen_of(await repo.get_pull(each.number))
