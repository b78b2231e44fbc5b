"""Turn the frozen values into plain JSON and back: what the journal stores."""

from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")


_adapters: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: Any) -> TypeAdapter[Any]:
    """The validator and JSON schema of a dataclass, built once per process."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def to_json(value: object) -> Any:
    """Plain JSON of a frozen value, readable by `from_json` of the same type."""
    return adapter(type(value)).dump_python(value, mode="json")


def from_json(kind: type[T], data: Any) -> T:
    """The value back; raises pydantic.ValidationError when `data` is not one of `kind`."""
    return cast("T", adapter(kind).validate_python(data))
