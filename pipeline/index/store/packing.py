"""Parsed files and lists of files as bytes: JSON arrays, deflated.

Plain data, so that reading a damaged or foreign store can fail but not run anything.
"""

import json
import zlib
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from pipeline.index.values import Binding, Call, Definition, Import, ParsedFile

_SEAL = 4  # bytes
LEVEL = 1  # level 6 saves a tenth of the space for three times the time


def pack(value: Any) -> bytes:
    """JSON data as bytes; strings may hold lone surrogates."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), LEVEL)


class Damaged(ValueError):
    """The bytes are not what was packed."""


def unpack(data: bytes) -> Any:
    """What `pack` was given; raises Damaged."""
    try:
        return json.loads(zlib.decompress(data))
    except (zlib.error, ValueError, RecursionError) as error:
        raise Damaged(f"it holds damaged data ({error})") from error


def sealed(value: bytes) -> bytes:
    """Derived bytes with a checksum before them."""
    return zlib.crc32(value).to_bytes(_SEAL, "big") + value


def unsealed(data: bytes) -> bytes | None:
    """What `sealed` was given, None when it was damaged since: it is derived again."""
    value = data[_SEAL:]
    return value if zlib.crc32(value).to_bytes(_SEAL, "big") == data[:_SEAL] else None


def pack_parsed(parsed: ParsedFile) -> bytes:
    """A parsed file as bytes."""
    return pack(
        (
            parsed.language,
            parsed.lines,
            [astuple(item) for item in parsed.definitions],
            [astuple(item) for item in parsed.imports],
            _columns([astuple(item) for item in parsed.calls]),
            parsed.exports,
            parsed.strings,
            parsed.degraded,
            [astuple(item) for item in parsed.bindings],
        )
    )


def unpack_parsed(data: bytes) -> ParsedFile:
    """The parsed file that `pack_parsed` was given."""
    language, lines, definitions, imports, calls, exports, strings, degraded, bound = unpack(data)
    return ParsedFile(
        language=language,
        lines=lines,
        definitions=tuple(_definition(item) for item in definitions),
        imports=tuple(Import(*item) for item in imports),
        calls=tuple(Call(*item) for item in zip(*calls, strict=True)),
        exports=tuple(exports),
        strings=tuple(strings),
        degraded=degraded,
        bindings=tuple(Binding(*item) for item in bound),
    )


def _columns(rows: Sequence[tuple[Any, ...]]) -> list[Sequence[Any]]:
    """Owner after owner compresses better, and is read faster, than row after row."""
    return [list(column) for column in zip(*rows, strict=True)]


def _definition(item: list[Any]) -> Definition:
    name, kind, start, end, signature, doc, bases = item
    return Definition(name, kind, start, end, signature, doc, tuple(bases))
