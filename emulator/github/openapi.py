"""GitHub's OpenAPI 3.0 schemas as JSON Schema 2020-12, in a strict form.

Strict means that an object with named properties has no others: GitHub's description allows
them, but a field nobody described is a mistake of the emulator or of its client.
"""

from typing import Any

_KEYWORDS_OF_SCHEMAS = ("items", "additionalProperties", "not")
_ALTERNATIVES = ("oneOf", "anyOf")


def convert(schema: Any, components: dict[str, Any], *, strict: bool) -> Any:
    """Rewrite one schema: `nullable` becomes a type, `$ref`s point below `$defs`.

    `components` are the unconverted ones; the branches of an `allOf` are copied in, so that
    strictness holds for the whole instead of for each part.
    """
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return {"$ref": schema["$ref"].replace("#/components/schemas/", "#/$defs/")}
    done = {k: v for k, v in schema.items() if k not in ("nullable", "discriminator")}
    if "properties" in done:
        done["properties"] = {
            name: convert(each, components, strict=strict)
            for name, each in done["properties"].items()
        }
    for keyword in _KEYWORDS_OF_SCHEMAS:
        if keyword in done:
            done[keyword] = convert(done[keyword], components, strict=strict)
    _convert_branches(done, components, strict=strict)
    composed = "allOf" in done
    if strict and ("properties" in done or composed) and "additionalProperties" not in done:
        done["unevaluatedProperties"] = False
    return _nullable(done) if schema.get("nullable") else done


def _convert_branches(done: dict[str, Any], components: dict[str, Any], *, strict: bool) -> None:
    # A branch beside `properties` only narrows them: it must not say what else may be there.
    narrows = "properties" in done
    for keyword in _ALTERNATIVES:
        if keyword in done:
            branches = [_opened(each) if narrows else each for each in done[keyword]]
            done[keyword] = [
                convert(each, components, strict=strict and not narrows) for each in branches
            ]
    if "allOf" in done:
        done["allOf"] = [
            _loose(_resolved(each, components), components, strict=strict) for each in done["allOf"]
        ]


def _loose(schema: dict[str, Any], components: dict[str, Any], *, strict: bool) -> dict[str, Any]:
    converted: dict[str, Any] = convert(schema, components, strict=strict)
    converted.pop("unevaluatedProperties", None)
    return converted


def _opened(branch: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in branch.items() if k != "additionalProperties"}


def _resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: dict[str, Any] = components[reference.removeprefix("#/components/schemas/")]
    return found


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    widened = {**schema, "type": [schema["type"], "null"]}
    if "enum" in widened:
        widened["enum"] = [*widened["enum"], None]
    return widened
