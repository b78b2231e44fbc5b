"""Look at a stored delivery: may it start a run, and on what text?

Everything is read from the signed payload in the inbox. What is not allowed is closed with the
reason; what GitHub cannot answer now is raised, so that the delivery is tried again.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from app.admission import commands
from app.admission.authorise import Admission, Outcome, why_not
from app.admission.outcomes import ENDS, note_end
from app.admission.payload import Event, read_event, read_installation
from app.admission.starting import start_from_issue, start_from_pull
from app.github.comments import ensure_comment, find_comment, reply_marker
from app.github.errors import Forbidden, GitHubError, NotFound
from app.ledger import inbox, installations
from app.ledger.installations import Installation
from app.messages import render

if TYPE_CHECKING:
    from app.github.client import GitHubRepo

_INSTALLATION_EVENTS = frozenset({"installation", "installation_repositories"})


async def admit(admission: Admission, guid: str) -> list[str]:
    """Decide about a delivery, note the outcome in the inbox, return ids of runs to wake.

    Deciding twice changes nothing. Raises GitHubUnavailable, RateLimited or Later when GitHub
    cannot tell now; MalformedPayload when the body is not what its event promises.
    """
    stored = await inbox.load(admission.engine, guid)
    if stored is None or stored.outcome is not None:
        return []
    delivery = stored.delivery
    if delivery.event in _INSTALLATION_EVENTS:
        outcome = await _change_installation(admission, delivery.event, delivery.body)
    elif (delivery.event, delivery.action) in ENDS:
        outcome = Outcome(await note_end(admission.engine, delivery.body))
    else:
        outcome = await _decide(admission, read_event(delivery.event, delivery.body), guid)
    await inbox.mark(admission.engine, guid, outcome.text)
    return list(outcome.run_ids)


async def _decide(admission: Admission, event: Event, guid: str) -> Outcome:
    if event.sender.type != "User":  # before any request: other bots must cost nothing
        return Outcome(f"refused: sender is a {event.sender.type.lower()}")
    try:
        async with admission.github.repository(
            event.installation_id, event.repository_id, event.full_name, "talk"
        ) as repo:
            return await _handle(admission, repo, event, guid)
    except (Forbidden, NotFound) as error:  # suspended, uninstalled, locked, taken away
        return Outcome(f"refused: {error}")


async def _handle(admission: Admission, repo: "GitHubRepo", event: Event, guid: str) -> Outcome:
    match (event.name, event.action):
        case ("issues", "labeled") if _is_ours(admission, event):
            return await _labeled_issue(admission, repo, event, guid)
        case ("pull_request", "labeled") if _is_ours(admission, event):
            return await _labeled_pull(admission, repo, event)
        case ("issue_comment", "created"):
            return await _commented(admission, repo, event, guid)
    return Outcome(f"ignored: {event.name}.{event.action}")


def _is_ours(admission: Admission, event: Event) -> bool:
    return event.label.strip().casefold() == admission.settings.label.casefold()


async def _labeled_issue(
    admission: Admission, repo: "GitHubRepo", event: Event, guid: str
) -> Outcome:
    if reason := await why_not(repo, event):
        return Outcome(f"refused: {reason}")
    await _note_installation(admission, event)
    return await start_from_issue(admission, repo, event, guid)


async def _labeled_pull(admission: Admission, repo: "GitHubRepo", event: Event) -> Outcome:
    if reason := await why_not(repo, event):
        return Outcome(f"refused: {reason}")
    text = render.label_on_pull_request(admission.settings.label)
    await ensure_comment(repo, event.issue.number, reply_marker("label-on-pull-request"), text)
    return Outcome("replied: label on a pull request")


async def _commented(admission: Admission, repo: "GitHubRepo", event: Event, guid: str) -> Outcome:
    command = commands.parse(event.comment_body, repo.identity.slug)
    if command is None:
        return Outcome("ignored: no command")
    if reason := await why_not(repo, event):
        await _shrug(repo, event)
        return Outcome(f"refused: {reason}")
    await _note_installation(admission, event)
    if command.name == "rerun":
        start = start_from_pull if event.issue.is_pull_request else start_from_issue
        return await start(admission, repo, event, guid)
    return await _explain(admission, repo, event, command)


async def _explain(
    admission: Admission, repo: "GitHubRepo", event: Event, command: commands.Command
) -> Outcome:
    """Help as often as it is asked for; after words nobody knows once per thread."""
    number = event.issue.number
    if command.name == "help":
        marker = reply_marker(f"help-{event.comment_id}")
        await ensure_comment(repo, number, marker, render.help_text(admission.settings.label))
        return Outcome("replied: help")
    marker = reply_marker("unknown-command")
    if await find_comment(repo, number, marker) is None:
        text = render.help_text(admission.settings.label, command.word)
        await ensure_comment(repo, number, marker, text)
    await _shrug(repo, event)
    return Outcome("replied: unknown command")


async def _shrug(repo: "GitHubRepo", event: Event) -> None:
    """😕 on the comment; what was decided stands when it is gone or GitHub does not answer."""
    with suppress(GitHubError):
        await repo.react_to_comment(event.comment_id, "confused")


async def _note_installation(admission: Admission, event: Event) -> None:
    """Rows also come into being by use: an installation's own event may have been missed."""
    known = await installations.load(admission.engine, event.installation_id)
    if known is None or known.suspended or known.deleted:
        selection = known.selection if known else "selected"
        await installations.upsert(
            admission.engine, Installation(event.installation_id, event.owner, selection)
        )
    await installations.add_repositories(
        admission.engine, event.installation_id, {event.repository_id: event.full_name}
    )


async def _change_installation(admission: Admission, name: str, body: bytes) -> Outcome:
    change = read_installation(body)
    await installations.upsert(
        admission.engine,
        Installation(
            installation_id=change.installation_id,
            account=change.account,
            selection=change.selection,
            suspended=change.action == "suspend"
            or (change.suspended and change.action != "unsuspend"),
            deleted=change.action == "deleted",
        ),
    )
    if change.action != "deleted":
        await installations.add_repositories(admission.engine, change.installation_id, change.added)
    await installations.remove_repositories(
        admission.engine, change.installation_id, change.removed
    )
    return Outcome(f"noted: {name}.{change.action}")
