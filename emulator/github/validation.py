"""Hold every request and every answer against GitHub's own OpenAPI description.

Validators are compiled when first needed and kept for the life of the process.
"""

import gzip
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from emulator.github.errors import Refused, not_found
from emulator.github.openapi import convert

DATA = Path(__file__).parent / "openapi.json.gz"


@cache
def description() -> dict[str, Any]:
    """The pruned OpenAPI description (see `prune_openapi`)."""
    loaded: dict[str, Any] = json.loads(gzip.decompress(DATA.read_bytes()))
    return loaded


@cache
def _definitions() -> dict[str, Any]:
    schemas = description()["components"]["schemas"]
    return {name: convert(each, schemas, strict=True) for name, each in schemas.items()}


def _compile(schema: Any, *, strict: bool = True) -> Any:
    schemas = description()["components"]["schemas"]
    root = {**convert(schema, schemas, strict=strict), "$defs": _definitions()}
    return jsonschema_rs.Draft202012Validator(root, validate_formats=True)


def _resolve(node: dict[str, Any]) -> dict[str, Any]:
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = description()
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    resolved: dict[str, Any] = found
    return resolved


@cache
def _operation(operation: str) -> dict[str, Any]:
    method, path = operation.split(" ")
    found: dict[str, Any] = description()["paths"][path][method.lower()]
    return found


@cache
def _parameters(operation: str, place: str) -> dict[str, tuple[dict[str, Any], Any]]:
    described = (_resolve(each) for each in _operation(operation).get("parameters", ()))
    return {
        each["name"]: (_resolve(each["schema"]), _compile(each["schema"]))
        for each in described
        if each["in"] == place
    }


@cache
def _body_validator(operation: str) -> Any | None:
    body = _resolve(_operation(operation).get("requestBody", {}))
    schema = body.get("content", {}).get("application/json", {}).get("schema")
    return None if schema is None else _compile(schema)


@lru_cache(maxsize=1024)
def _answer_validator(operation: str, status: int) -> Any | None:
    """None: the status has no body. KeyError: the description does not have the status."""
    answers = _operation(operation)["responses"]
    if str(status) in answers:
        content = _resolve(answers[str(status)]).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        return None if schema is None else _compile(schema)
    if status < 400:
        raise KeyError(status)
    # Authentication, permission and rate limits refuse everywhere, described or not.
    kind = "validation-error" if status == 422 else "basic-error"
    return _compile({"$ref": f"#/components/schemas/{kind}"})


def read_path(operation: str, values: Mapping[str, str]) -> dict[str, str | int]:
    """The path parameters with their types; Refused 404 when one cannot have its type."""
    known = _parameters(operation, "path")
    read: dict[str, str | int] = {}
    for name, text in values.items():
        value = _typed(known[name][0], text) if name in known else text
        if name in known and not known[name][1].is_valid(value):
            raise not_found()
        read[name] = value
    return read


def read_query(operation: str, values: Mapping[str, str]) -> dict[str, Any]:
    """The query parameters with their types; Refused 422 for an unknown or impossible one."""
    known = _parameters(operation, "query")
    read: dict[str, Any] = {}
    for name, text in values.items():
        if name not in known:
            raise Refused(422, f"Invalid request.\n\n{name!r} is not a known query parameter.")
        read[name] = _typed(known[name][0], text)
        complaint = _complaint(known[name][1], read[name])
        if complaint:
            raise Refused(422, f"Invalid request.\n\nFor {name!r}: {complaint}")
    return read


def _typed(schema: Mapping[str, Any], text: str) -> Any:
    if schema.get("type") == "integer" and text.lstrip("-").isdecimal():
        return int(text)
    if schema.get("type") == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def read_body(operation: str, raw: bytes) -> dict[str, Any]:
    """The JSON body; Refused 400 when it is not JSON, 422 when the description forbids it."""
    try:
        body = json.loads(raw) if raw.strip() else {}
    except ValueError as cause:
        raise Refused(400, "Problems parsing JSON") from cause
    validator = _body_validator(operation)
    if not isinstance(body, dict):
        raise Refused(400, "Body should be a JSON object")
    if validator is not None and (complaint := _complaint(validator, body)):
        raise Refused(422, f"Invalid request.\n\n{complaint}")
    return body


def violation(operation: str, status: int, body: Any) -> str | None:
    """What an answer has that GitHub's description does not allow, or None."""
    try:
        validator = _answer_validator(operation, status)
    except KeyError:
        return f"{operation} never answers {status}"
    if validator is None:
        return None if body is None else f"{operation} {status} has no body"
    complaint = _complaint(validator, body)
    return f"{operation} {status}: {complaint}" if complaint else None


@cache
def _payload_validator(name: str) -> Any:
    described = description()["x-webhooks"]
    schemas = described["components"]["schemas"]
    # Not strict: GitHub's description of webhooks lags behind that of the REST API.
    definitions = {key: convert(each, schemas, strict=False) for key, each in schemas.items()}
    root = {**convert(described["payloads"][name], schemas, strict=False), "$defs": definitions}
    return jsonschema_rs.Draft202012Validator(root, validate_formats=True)


def payload_violation(event: str, payload: Mapping[str, Any]) -> str | None:
    """What a webhook's payload has that GitHub's description does not allow, or None."""
    name = "-".join([event, *filter(None, [payload.get("action")])]).replace("_", "-")
    complaint = _complaint(_payload_validator(name), payload)
    return f"webhook {name}: {complaint}" if complaint else None


def _complaint(validator: Any, value: Any) -> str | None:
    for error in validator.iter_errors(value):
        where = "/".join(map(str, error.instance_path))
        return f"at {where or 'the top'}: {str(error.message)[:500]}"
    return None
