"""The same endpoint as two clouds offer it: other addresses, and on Bedrock other frames.

Written after the published formats; the services themselves may differ.
"""

import base64
import json
import struct
import zlib
from collections.abc import AsyncIterator
from typing import Any

Json = Any

VERTEX = "/v1/projects/{project}/locations/{region}/publishers/anthropic/models/{model}"
BEDROCK = "/model/{model}/invoke-with-response-stream"


def plain_body(body: Json, model: str) -> Json:
    """The body as the plain API has it; None when the cloud would not take it.

    The model stands in the address, and the version of the API in the body.
    """
    if not isinstance(body, dict) or "model" in body or not body.get("anthropic_version"):
        return None
    rest = {name: value for name, value in body.items() if name != "anthropic_version"}
    return {**rest, "model": model.removesuffix(":streamRawPredict"), "stream": True}


async def frames(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Server-sent events as frames of AWS's event stream; an `error` becomes an exception."""
    async for part in parts:
        data = part.partition(b"data: ")[2].strip()
        if part.startswith(b"event: error"):
            said = json.dumps({"message": json.loads(data)["error"]["message"]}).encode()
            kinds = {":message-type": "exception", ":exception-type": "internalServerException"}
            yield _frame({**kinds, ":content-type": "application/json"}, said)
            continue
        payload = json.dumps({"bytes": base64.b64encode(data).decode()}).encode()
        kinds = {":message-type": "event", ":event-type": "chunk"}
        yield _frame({**kinds, ":content-type": "application/json"}, payload)


def _frame(headers: dict[str, str], payload: bytes) -> bytes:
    """Lengths and their checksum, headers, payload, checksum of all."""
    head = b"".join(
        struct.pack("!B", len(name))
        + name.encode()
        + struct.pack("!BH", 7, len(value))
        + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    frame = prelude + struct.pack("!I", zlib.crc32(prelude)) + head + payload
    return frame + struct.pack("!I", zlib.crc32(frame))
