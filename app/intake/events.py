"""Which deliveries matter, and what identifies the event behind them. Pure.

A signature tells who sent the bytes, not that they have the shape GitHub documents: everything
read here is checked, and what does not fit raises Malformed.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from app.admission.commands import COMMANDS, parse
from app.ledger.runs import BRANCHES

MAX_ID = 2**63 - 1

_INSTALLATION_ACTIONS = {
    "installation": {"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"},
    "installation_repositories": {"added", "removed"},
}
_ENDS = {"closed", "reopened"}
_RELEVANT = {"issues", "pull_request", "issue_comment", *_INSTALLATION_ACTIONS}


class Malformed(ValueError):
    """The body is not what its event header promises; the message is for the sender."""


@dataclass(frozen=True, slots=True)
class Event:
    """A relevant event. `repository_id` is None when it is about an installation."""

    name: str
    action: str
    semantic_key: str
    installation_id: int
    repository_id: int | None


def read_event(name: str, guid: str, body: bytes, label: str) -> Event | None:
    """The event a signed delivery carries, None when Prism has no use for it.

    Relevant are: the label (in any case) put on an issue or a pull request, a new comment whose
    first line of its own text is a command, the end of a pull request from a branch named like
    Prism's, and changes of installations. Bodies of other events are not parsed. Raises Malformed.
    """
    if name not in _RELEVANT:
        return None
    payload = parse_json(body)
    action = payload.get("action")
    if not isinstance(action, str):
        raise Malformed("The body has no action.")
    if name in _INSTALLATION_ACTIONS:
        return _installation_event(name, action, guid, payload)
    if name == "issue_comment":
        return _comment_event(action, payload)
    if name == "pull_request" and action in _ENDS:
        return _end_event(action, payload)
    return _label_event(name, action, payload, label)


def parse_json(body: bytes) -> dict[str, Any]:
    """The object a body holds; raises Malformed.

    NaN, infinities and repeated keys are refused: two readers could take them for two things.
    """
    try:
        payload = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
        )
    except RecursionError:
        raise Malformed("The body is nested too deeply.") from None
    except ValueError as error:
        raise Malformed(f"The body is not JSON: {str(error)[:100]}") from None
    if not isinstance(payload, dict):
        raise Malformed("The body is not a JSON object.")
    return payload


def is_command(text: str) -> bool:
    """Whether a comment may give a command; linear in its length.

    The App's name is not known here: a mention of anybody counts with a word Prism knows, so
    that talk among people leaves no rows. Admission reads the comment again.
    """
    command = parse(text, slug="")
    return command is not None and (command.word in COMMANDS or "/prism" in text.casefold())


def _label_event(name: str, action: str, payload: dict[str, Any], label: str) -> Event | None:
    if action != "labeled" or payload.get("label") is None:
        return None
    added = _object(payload, "label")
    title = added.get("name")
    if not isinstance(title, str):
        raise Malformed("label.name is not a text.")
    if title.strip().casefold() != label.casefold():
        return None
    subject = _object(payload, "issue" if name == "issues" else "pull_request")
    return _event(name, action, payload, (subject, added))


def _end_event(action: str, payload: dict[str, Any]) -> Event | None:
    """The branch's name keeps others out of the inbox; whose it is, the ledger knows."""
    pull = _object(payload, "pull_request")
    branch = _object(pull, "head").get("ref")
    if not isinstance(branch, str):
        raise Malformed("head.ref is not a text.")
    if not branch.startswith(BRANCHES):
        return None
    return _event("pull_request", action, payload, (pull,))


def _comment_event(action: str, payload: dict[str, Any]) -> Event | None:
    if action != "created":
        return None
    comment = _object(payload, "comment")
    body = comment.get("body")
    if not isinstance(body, str | None):
        raise Malformed("comment.body is not a text.")
    if not is_command(body or ""):
        return None
    return _event("issue_comment", action, payload, (comment, _object(payload, "issue")))


def _installation_event(name: str, action: str, guid: str, payload: dict[str, Any]) -> Event | None:
    """Nothing in such a payload tells a second "added" from a first, so the id has to."""
    if action not in _INSTALLATION_ACTIONS[name]:
        return None
    installation = _id(_object(payload, "installation"), "installation")
    return Event(name, action, _key(name, action, guid), installation, None)


def _event(
    name: str, action: str, payload: dict[str, Any], subjects: tuple[dict[str, Any], ...]
) -> Event:
    """The first subject is what changed; its `updated_at` tells two like events apart."""
    repository = _id(_object(payload, "repository"), "repository")
    installation = _id(_object(payload, "installation"), "installation")
    sender = _id(_object(payload, "sender"), "sender")
    when = subjects[0].get("updated_at")
    if not isinstance(when, str | int | None):
        raise Malformed("updated_at is not a time.")
    ids = [_id(subject, "subject") for subject in subjects]
    key = _key(name, action, repository, *ids, sender, when)
    return Event(name, action, key, installation, repository)


def _object(payload: dict[str, Any], key: str) -> dict[str, Any]:
    value = payload.get(key)
    if not isinstance(value, dict):
        raise Malformed(f"The body has no {key}.")
    return value


def _id(value: dict[str, Any], name: str) -> int:
    number = value.get("id")
    if type(number) is not int or not 0 < number <= MAX_ID:
        raise Malformed(f"The {name} has no id.")
    return number


def _key(*parts: str | int | None) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key is repeated")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
