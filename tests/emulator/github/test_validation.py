"""Requests and answers are held against GitHub's own description."""

import json
from typing import Any

import httpx
import pytest

from emulator.github import validation
from emulator.github.endpoints import ENDPOINTS
from emulator.github.errors import Refused
from emulator.github.openapi import convert
from emulator.github.prune_openapi import prune
from emulator.github.running import running

COMMENTS = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b'{"body": "x"}', None),
        (b"{", 400),
        (b"[]", 400),
        (b"{}", 422),
        (b'{"body": 1}', 422),
        (b'{"body": null}', 422),
        (b'{"body": "x", "unknown": 1}', 422),
    ],
)
def test_bodies(raw: bytes, status: int | None) -> None:
    """A body is JSON, an object, complete, of the right types and without unknown fields."""
    if status is None:
        assert validation.read_body(COMMENTS, raw) == json.loads(raw)
        return
    with pytest.raises(Refused) as refused:
        validation.read_body(COMMENTS, raw)
    assert refused.value.status == status


def test_query() -> None:
    """Query parameters get their types; unknown names and impossible values are 422."""
    operation = "GET /repos/{owner}/{repo}/pulls"
    assert validation.read_query(operation, {"per_page": "5"}) == {"per_page": 5}
    for wrong in ({"state": "opened"}, {"per_page": "many"}, {"colour": "red"}):
        with pytest.raises(Refused, match="422"):
            validation.read_query(operation, wrong)


def test_path() -> None:
    """A number in a path is a number, or the address does not exist."""
    operation = "GET /repos/{owner}/{repo}/issues/{issue_number}"
    assert validation.read_path(operation, {"issue_number": "7"})["issue_number"] == 7
    with pytest.raises(Refused, match="404"):
        validation.read_path(operation, {"issue_number": "seven"})


@pytest.mark.parametrize(
    ("operation", "status", "body"),
    [
        ("GET /rate_limit", 200, {}),
        ("GET /rate_limit", 202, {}),
        ("DELETE /installation/token", 204, {"a": 1}),
        ("GET /app", 401, {"message": 1}),
        ("POST /repos/{owner}/{repo}/pulls", 422, {"message": "m"}),
    ],
)
def test_violations(operation: str, status: int, body: Any) -> None:
    """Missing fields, undescribed statuses and bodies where none belongs are violations."""
    assert validation.violation(operation, status, body) is not None


def test_unknown_field_is_a_violation() -> None:
    """An answer with a field nobody described is a violation."""
    reaction = {
        "id": 1,
        "node_id": "n",
        "user": None,
        "content": "eyes",
        "created_at": "2026-01-01T00:00:00Z",
    }
    operation = "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions"
    assert validation.violation(operation, 201, reaction) is None
    assert validation.violation(operation, 201, reaction | {"extra": 1}) is not None
    assert validation.violation(operation, 201, reaction | {"created_at": "today"}) is not None


async def test_violation_is_answered_500(hub: Any) -> None:
    """A wrong answer of the emulator is collected and answered 500 in plain words."""
    hub.bot.name = 5
    async with running(hub), httpx.AsyncClient(base_url=hub.url, verify=False) as client:
        answer = await client.get("/api/v3/users/prism%5Bbot%5D")
    assert answer.status_code == 500
    assert "broke GitHub's description" in answer.text
    assert len(hub.violations) == 1


def test_every_endpoint_is_described() -> None:
    """The committed description has exactly the endpoints that are served, each one once."""
    described = {
        f"{method.upper()} {path}"
        for path, methods in validation.description()["paths"].items()
        for method in methods
    }
    operations = [each.operation for each in ENDPOINTS]
    assert sorted(described) == sorted(operations)


def test_convert() -> None:
    """`nullable` becomes a type, also beside an enum and a reference."""
    assert convert({"type": "string", "nullable": True, "enum": ["a"]}, {}, strict=True) == {
        "type": ["string", "null"],
        "enum": ["a", None],
    }
    nullable = {"anyOf": [{"type": "string"}], "nullable": True}
    assert convert(nullable, {}, strict=True)["anyOf"][1] == {"type": "null"}
    whole = {"allOf": [{"$ref": "#/components/schemas/a"}, {"properties": {"y": {}}}]}
    parts = {"a": {"type": "object", "properties": {"x": {}}}}
    assert convert(whole, parts, strict=True)["unevaluatedProperties"] is False


def test_prune() -> None:
    """What an operation reaches is kept, prose is dropped, a property may be called "title"."""
    description = {
        "openapi": "3.0.3",
        "info": {"version": "1"},
        "paths": {
            "/a": {
                "get": {"summary": "s", "responses": {"$ref": "#/components/schemas/x"}},
                "put": {},
            },
            "/b": {"get": {}},
        },
        "components": {
            "schemas": {
                "x": {"properties": {"title": {"description": "d", "type": "string"}}},
                "unused": {},
            }
        },
    }
    pruned = prune(description, ("GET /a",))
    assert pruned["paths"] == {"/a": {"get": {"responses": {"$ref": "#/components/schemas/x"}}}}
    kept = {"schemas": {"x": {"properties": {"title": {"type": "string"}}}}}
    assert pruned["components"] == kept
    with pytest.raises(KeyError, match="POST /a"):
        prune(description, ("POST /a",))
