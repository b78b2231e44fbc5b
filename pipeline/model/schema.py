"""JSON schemas of frozen dataclasses as the model sees them, and validation of what it sends."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from pipeline.jsonable import adapter
from pipeline.services import Json

T = TypeVar("T")

MAX_PROBLEMS = 5


def schema_of(kind: type[Any]) -> dict[str, Json]:
    """The JSON schema of a dataclass: references inlined, titles and docstrings left out.

    Compatible hosts do not all follow `$ref`, and every byte is sent with every call.
    """
    schema = adapter(kind).json_schema()
    return cast("dict[str, Json]", _inline(schema, schema.get("$defs", {})))


def validate(kind: type[T], data: Json) -> T | str:
    """A value of the dataclass, or in words what is wrong with `data`."""
    if not isinstance(data, Mapping):
        return "The input must be a JSON object."
    unknown = sorted(set(data) - {entry.name for entry in fields(cast("Any", kind))})
    if unknown:
        return f"Unknown field: {', '.join(unknown)}."
    try:
        return cast("T", adapter(kind).validate_python(data))
    except ValidationError as error:
        return _in_words(error)


def _in_words(error: ValidationError) -> str:
    lines = []
    for problem in error.errors()[:MAX_PROBLEMS]:
        place = ".".join(str(part) for part in problem["loc"]) or "input"
        lines.append(f"{place}: {problem['msg']}")
    return "; ".join(lines) + "."


def _inline(node: Json, definitions: Mapping[str, Json]) -> Json:
    if isinstance(node, list):
        return [_inline(entry, definitions) for entry in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline(definitions[node["$ref"].rsplit("/", 1)[1]], definitions)
    described = "properties" in node or "enum" in node
    dropped = {"$defs", "title"} | ({"description"} if described else set())
    return {
        key: _inline_properties(value, definitions)
        if key == "properties"
        else _inline(value, definitions)
        for key, value in node.items()
        if key not in dropped
    }


def _inline_properties(properties: Mapping[str, Json], definitions: Mapping[str, Json]) -> Json:
    """Properties by name: a field may be called `title` or `description` itself."""
    return {name: _inline(value, definitions) for name, value in properties.items()}
