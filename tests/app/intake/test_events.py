"""Events: what is relevant, what identifies it, and hostile shapes."""

import json
import time
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.intake.events import (
    Event,
    Malformed,
    is_command,
    parse_json,
    read_event,
)

LABELED: dict[str, Any] = {
    "action": "labeled",
    "issue": {"id": 11, "number": 3, "updated_at": "2026-01-01T00:00:00Z"},
    "label": {"id": 12, "name": "prism-fix"},
    "repository": {"id": 2**40, "full_name": "acme/widgets"},
    "installation": {"id": 7},
    "sender": {"id": 5, "login": "ann", "type": "User"},
}
COMMENT: dict[str, Any] = {
    **{key: LABELED[key] for key in ("issue", "repository", "installation", "sender")},
    "action": "created",
    "comment": {"id": 13, "body": "/prism rerun", "updated_at": "2026-01-01T00:00:00Z"},
}
ENDED: dict[str, Any] = {
    **{key: LABELED[key] for key in ("repository", "installation", "sender")},
    "action": "closed",
    "pull_request": {**LABELED["issue"], "head": {"ref": "prism/issue-3-2"}},
}
INSTALLED: dict[str, Any] = {"action": "created", "installation": {"id": 7}, "sender": {"id": 5}}


def _read(name: str, payload: object, guid: str = "g-1") -> Event | None:
    return read_event(name, guid, json.dumps(payload).encode(), "prism-fix")


def _with(payload: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of the payload with the value at a dotted path."""
    changed = deepcopy(payload)
    *parents, last = path.split(".")
    target = changed
    for parent in parents:
        target = target[parent]
    target[last] = value
    return changed


def test_a_label_on_an_issue_is_relevant() -> None:
    """With the ids it happened under."""
    event = _read("issues", LABELED)
    assert event is not None
    assert (event.name, event.action) == ("issues", "labeled")
    assert (event.installation_id, event.repository_id) == (7, 2**40)


@pytest.mark.parametrize("label", ["Prism-Fix", "PRISM-FIX", " prism-fix "])
def test_the_label_counts_in_any_case(label: str) -> None:
    """People create labels by hand."""
    assert _read("issues", _with(LABELED, "label.name", label)) is not None


def test_a_label_on_a_pull_request_is_relevant() -> None:
    """Somebody expects an answer there, if only that it is the wrong place."""
    payload = {**LABELED, "pull_request": LABELED["issue"]}
    del payload["issue"]
    assert _read("pull_request", payload) is not None


@pytest.mark.parametrize("action", ["closed", "reopened"])
def test_the_end_of_a_pull_request_is_relevant(action: str) -> None:
    """Whoever brought it about; once for each time."""
    first = _read("pull_request", {**ENDED, "action": action}, "g-1")
    assert first is not None
    assert (first.action, first.repository_id) == (action, 2**40)
    assert _read("pull_request", {**ENDED, "action": action}, "g-2") == first
    later = _with(ENDED, "pull_request.updated_at", "2026-01-01T00:00:09Z")
    again = _read("pull_request", {**later, "action": action})
    assert again is not None
    assert again.semantic_key != first.semantic_key


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("pull_request", _with(ENDED, "pull_request.head.ref", "fix-it")),
        ("pull_request", {**ENDED, "action": "opened"}),
        ("issues", ENDED),
        ("ping", {"zen": "x"}),
        ("push", LABELED),
        ("issues", {**LABELED, "action": "opened"}),
        ("issues", {**LABELED, "action": "unlabeled"}),
        ("issues", {**LABELED, "action": "closed"}),
        ("issues", {key: value for key, value in LABELED.items() if key != "label"}),
        ("issues", _with(LABELED, "label.name", "bug")),
        ("issues", COMMENT),
        ("issue_comment", {**COMMENT, "action": "edited"}),
        ("issue_comment", _with(COMMENT, "comment.body", "I like /prism rerun")),
        ("issue_comment", _with(COMMENT, "comment.body", None)),
        ("pull_request", {**LABELED, "action": "synchronize"}),
        ("installation", {**INSTALLED, "action": "something_new"}),
    ],
)
def test_everything_else_is_not(name: str, payload: dict[str, Any]) -> None:
    """Other events, actions, labels and comments leave no row."""
    assert _read(name, payload) is None


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("installation", "created"),
        ("installation", "deleted"),
        ("installation", "suspend"),
        ("installation", "unsuspend"),
        ("installation_repositories", "added"),
        ("installation_repositories", "removed"),
    ],
)
def test_changes_of_installations_are_relevant(name: str, action: str) -> None:
    """They belong to no repository, and each delivery is an event of its own."""
    payload = {**INSTALLED, "action": action}
    first, second = _read(name, payload, "g-1"), _read(name, payload, "g-2")
    assert first is not None
    assert second is not None
    assert first.repository_id is None
    assert first.semantic_key != second.semantic_key


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("issue.id", 99),
        ("label.id", 99),
        ("sender.id", 99),
        ("repository.id", 99),
        ("issue.updated_at", "2026-01-01T00:00:01Z"),
    ],
)
def test_another_event_has_another_key(path: str, value: object) -> None:
    """Other issue, label, person, repository or time: not the same event."""
    first, second = _read("issues", LABELED), _read("issues", _with(LABELED, path, value))
    assert first is not None
    assert second is not None
    assert first.semantic_key != second.semantic_key


def test_the_same_event_has_the_same_key_under_every_delivery_id() -> None:
    """A captured body sent again under a new id is recognised."""
    assert _read("issues", LABELED, "g-1") == _read("issues", LABELED, "g-2")


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("issues", []),
        ("issues", "text"),
        ("issues", {}),
        ("issues", {**LABELED, "action": 5}),
        ("issues", {**LABELED, "label": "prism-fix"}),
        ("issues", _with(LABELED, "label.name", None)),
        ("issues", _with(LABELED, "label.id", "12")),
        ("issues", _with(LABELED, "issue.id", True)),
        ("issues", _with(LABELED, "issue.id", 0)),
        ("issues", _with(LABELED, "issue.id", 2**63)),
        ("issues", _with(LABELED, "issue.updated_at", {})),
        ("issues", {**LABELED, "issue": None}),
        ("issues", {**LABELED, "repository": [1]}),
        ("issues", {**LABELED, "installation": None}),
        ("issues", {**LABELED, "sender": None}),
        ("pull_request", _with(ENDED, "pull_request.head.ref", None)),
        ("pull_request", _with(ENDED, "pull_request.head", "prism/issue-3")),
        ("pull_request", _with(ENDED, "pull_request.id", None)),
        ("pull_request", {**ENDED, "pull_request": None}),
        ("issue_comment", {**COMMENT, "comment": None}),
        ("issue_comment", _with(COMMENT, "comment.body", ["/prism"])),
        ("issue_comment", {key: COMMENT[key] for key in COMMENT if key != "issue"}),
        ("installation", {**INSTALLED, "installation": {"id": -1}}),
    ],
)
def test_a_wrong_shape_is_malformed(name: str, payload: object) -> None:
    """A key that is missing or of another type gives a sentence, never a crash."""
    with pytest.raises(Malformed, match=r"\.$"):
        _read(name, payload)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1, "a": 2}',
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b'{"a": ' + b"9" * 10_000 + b"}",
        b"\x1f\x8b\x08\x00",
        b"null",
    ],
)
def test_a_body_that_is_no_object_is_malformed(body: bytes) -> None:
    """Broken, repeated, endless, compressed: one sentence, no crash."""
    with pytest.raises(Malformed):
        parse_json(body)


@given(st.binary(max_size=200))
def test_no_body_breaks_the_reader(body: bytes) -> None:
    """Whatever the bytes, the answer is an event, nothing, or Malformed."""
    for name in ("issues", "issue_comment", "installation", "ping"):
        try:
            assert read_event(name, "g", body, "prism-fix") is None
        except Malformed:
            continue


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(
    path=st.sampled_from(
        [*LABELED, "issue.id", "issue.updated_at", "label.id", "label.name", "sender.id"]
    ),
    value=VALUES,
)
def test_no_value_anywhere_breaks_the_reader(path: str, value: object) -> None:
    """Any JSON in the place of any field that is read."""
    try:
        event = _read("issues", _with(LABELED, path, value))
    except Malformed:
        return
    assert event is None or 0 < event.installation_id < 2**63


@pytest.mark.parametrize(
    "text", ["/prism", "/prism rerun", "/PRISM Help", "/prism: what?", "@prism-bot rerun"]
)
def test_a_command_is_one_known_or_not(text: str) -> None:
    """Unknown commands get an answer, too."""
    assert is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "/prismatic",
        "prism rerun",
        "\\/prism",
        "@alice what do you think?",
        "@alice",
        "/ prism",
        "> /prism rerun",
        "```\n/prism rerun\n```",
        "    /prism rerun",
        "hello\n/prism rerun",
        "",
    ],
)
def test_what_only_looks_like_a_command_is_none(text: str) -> None:
    """The word stands alone at the beginning."""
    assert not is_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "`" * 65_536,
        "> " * 65_536,
        "\n" * 65_536,
        "```\n" * 16_384,
        "<!--" * 16_384,
        "<!-- -->" * 8_192,
        "/prism" + " " * 65_000,
    ],
)
def test_reading_a_comment_takes_linear_time(text: str) -> None:
    """The longest comment GitHub accepts takes linear time: a tenth of the limit here."""
    began = time.process_time()
    is_command(text)
    assert time.process_time() - began < 1.0
